//! What touches the world: files, pipes, child processes.
