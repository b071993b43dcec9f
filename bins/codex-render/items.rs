//! The items in progress.

use std::collections::VecDeque;

/// Maximum number of items that are remembered. Beyond it the oldest is forgotten, and would be shown again at its end.
/// An item that never ends, as a command in the background, stays until then.
const ITEMS_CAP: usize = 1024;

/// The items that have been shown and have not ended, oldest first.
#[derive(Debug, Default)]
pub struct ItemsInProgress {
    ids: VecDeque<String>,
}

impl ItemsInProgress {
    /// Whether this is the first event of item `id`. An item is forgotten at its end (`is_over`), because the ids of
    /// a resumed run begin anew.
    pub fn is_first(&mut self, id: &str, is_over: bool) -> bool {
        let index = self.ids.iter().rposition(|other| other == id);
        match (index, is_over) {
            (Some(index), true) => {
                self.ids.remove(index);
            }
            (None, false) => {
                if self.ids.len() == ITEMS_CAP {
                    self.ids.pop_front();
                }
                self.ids.push_back(id.to_owned());
            }
            _ => {}
        }
        index.is_none()
    }

    /// Forgets all items.
    pub fn clear(&mut self) {
        self.ids.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_new_until_its_end() {
        let mut items = ItemsInProgress::default();
        assert!(items.is_first("a", false) && items.is_first("b", false));
        assert!(!items.is_first("a", false) && !items.is_first("a", true));
        assert!(items.is_first("a", true) && items.is_first("a", false));
        assert!(!items.is_first("b", true));
    }

    #[test]
    fn the_number_of_items_is_limited() {
        let mut items = ItemsInProgress::default();
        for number in 0..=ITEMS_CAP {
            assert!(items.is_first(&number.to_string(), false));
        }
        assert_eq!(items.ids.len(), ITEMS_CAP);
        assert!(items.is_first("0", true) && !items.is_first("1", true));
    }
}
