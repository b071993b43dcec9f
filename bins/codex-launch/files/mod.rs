//! Files and folders by name, as they are written next to an agent that may replace each of them.

pub mod folder;
pub mod output_path;
mod remove_tree;
pub mod temp_names;
