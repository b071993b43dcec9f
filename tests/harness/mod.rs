//! The words that tests speak.
