//! Which items have been shown.

use std::collections::VecDeque;

/// How many items may be under way at a time. When there are more, the oldest is forgotten, and would be shown again
/// at its end; an item that never ends, as a command in the background, stays on the list.
const MOST: usize = 1024;

/// The items under way, by id.
#[derive(Debug, Default)]
pub struct Shown {
    ids: VecDeque<String>,
}

impl Shown {
    /// Whether this is the first that is heard of item `id`. At its end (`is_over`) it is forgotten: the ids of
    /// a resumed run begin anew.
    pub fn is_first(&mut self, id: &str, is_over: bool) -> bool {
        let place = self.ids.iter().rposition(|known| known == id);
        match (place, is_over) {
            (Some(place), true) => {
                self.ids.remove(place);
            }
            (None, false) => {
                if self.ids.len() == MOST {
                    self.ids.pop_front();
                }
                self.ids.push_back(id.to_owned());
            }
            _ => {}
        }
        place.is_none()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.ids.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_new_until_its_end() {
        let mut shown = Shown::default();
        assert!(shown.is_first("a", false) && shown.is_first("b", false));
        assert!(!shown.is_first("a", false) && !shown.is_first("a", true));
        assert!(shown.is_first("a", true) && shown.is_first("a", false));
        assert!(!shown.is_first("b", true));
    }

    #[test]
    fn there_is_an_end_to_the_list() {
        let mut shown = Shown::default();
        for number in 0..=MOST {
            assert!(shown.is_first(&number.to_string(), false));
        }
        assert_eq!(shown.ids.len(), MOST);
        assert!(shown.is_first("0", true) && !shown.is_first("1", true));
    }
}
