//! What touches the person: messages, help, exit statuses.
