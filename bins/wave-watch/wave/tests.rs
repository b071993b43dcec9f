//! A wave of agents over simulated time.

use super::*;
use crate::reader::{FileReader, SpareReader};

const DONE: &str = r#"{"type":"handoff.completed","elapsed_seconds":1}"#;
const FAILED: &str = r#"{"type":"handoff.failed","reason":"timeout","elapsed_seconds":1}"#;

/// A wave whose time is what the test says, and what it has told.
struct Fake {
    wave: Wave,
    now: Duration,
    out: String,
    is_taken: Option<bool>,
}

/// A wave of agents A0, A1, ... with these budgets in seconds; digests every 300 s, grace 120 s.
fn fake(budgets: &[u64], keep_going: bool) -> Fake {
    let rules =
        Rules { digest: Duration::from_secs(300), grace: Duration::from_secs(120), start: None, keep_going };
    let agent = |(index, &budget): (usize, &u64)| {
        Agent::new(&format!("A{index}"), Duration::from_secs(budget), index.to_string().into()).unwrap()
    };
    let agents: Vec<Agent> = budgets.iter().enumerate().map(agent).collect();
    Fake { wave: Wave::new(&agents, rules), now: Duration::ZERO, out: String::new(), is_taken: None }
}

impl Fake {
    /// These whole lines appear in the file of `agent` at once, and are read.
    fn appear(&mut self, agent: usize, lines: &[&str]) {
        self.wave.observe(agent, FileEvent::Bytes, self.now, &mut self.out);
        let text = lines.join("\n") + "\n";
        FileReader::default().push(&mut SpareReader::default(), text.as_bytes(), |line| {
            self.wave.observe(agent, FileEvent::Line(line), self.now, &mut self.out);
        });
        self.wave.observe(agent, FileEvent::Pause, self.now, &mut self.out);
    }

    /// What time does when it has come to `seconds`.
    fn pass(&mut self, seconds: u64) {
        self.now = Duration::from_secs(seconds);
        while let Some(agent) = self.wave.overdue(self.now) {
            self.wave.expire(agent, self.now, &mut self.out);
        }
        if self.wave.is_digest_due(self.now) {
            let look = Look { file_exists: true, is_taken: self.is_taken };
            self.wave.digest(self.now, |_| look, &mut self.out);
        }
    }

    /// The records since the last call, each as `type agent`, or as `type settled/total` for a settlement.
    fn told(&mut self) -> Vec<String> {
        let out = std::mem::take(&mut self.out);
        let told = out.lines().map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let kind = record["type"].as_str().unwrap().strip_prefix("watcher.").unwrap().to_owned();
            match record["agentId"].as_str() {
                Some(agent) => format!("{kind} {agent}"),
                None => format!("{kind} {}/{}", record["settled"], record["total"]),
            }
        });
        told.collect()
    }
}

#[test]
fn a_day_passes() {
    let hours = |hours: u64| hours * 3600;
    let mut fake = fake(&[hours(8), hours(12), hours(30)], false);
    let mut digests = [0; 3];
    for second in 1..=hours(24) {
        if second == hours(2) {
            fake.appear(0, &[r#"{"type":"turn.started"}"#, r#"{"type":"error","message":"x"}"#]);
        }
        if second == hours(6) {
            fake.appear(1, &["{}", DONE]);
            assert_eq!(fake.told(), ["sentinel A1", "settlement 1/3"]);
        }
        fake.pass(second);
        let settles = second == hours(8) + 120;
        assert_eq!(fake.wave.is_watched(0), second < hours(8) + 120);
        for told in fake.told() {
            match told.as_str() {
                "digest A0" => digests[0] += 1,
                "digest A1" => digests[1] += 1,
                "digest A2" => digests[2] += 1,
                "sentinel A0" | "settlement 2/3" => assert!(settles),
                other => panic!("{other} after {second} s"),
            }
        }
    }
    assert_eq!(digests, [8 * 12, 6 * 12 - 1, 24 * 12]);
    assert_eq!(fake.wave.end(), None);
    fake.appear(0, &[DONE]);
    fake.appear(2, &[DONE]);
    assert_eq!(fake.told(), ["sentinel A2", "settlement 3/3"]);
    assert_eq!(fake.wave.end(), Some(End::Failed));
}

#[test]
fn a_digest_tells_of_its_interval() {
    let mut fake = fake(&[1200], false);
    let quiet = |fake: &mut Fake| {
        let record: serde_json::Value = serde_json::from_str(&std::mem::take(&mut fake.out)).unwrap();
        (record["noRecentActivity"].as_bool().unwrap(), record["quietSeconds"].as_u64().unwrap())
    };
    fake.pass(299);
    assert_eq!(fake.out, "");
    fake.appear(0, &[r#"{"type":"turn.started"}"#]);
    fake.pass(300);
    assert_eq!(quiet(&mut fake), (true, 1));
    fake.appear(0, &[r#"{"type":"item.completed","item":{"type":"reasoning","text":"x"}}"#]);
    fake.pass(650);
    assert_eq!(quiet(&mut fake), (false, 350));
    // Half a line is life and no activity.
    fake.wave.observe(0, FileEvent::Bytes, fake.now, &mut fake.out);
    fake.pass(900);
    assert_eq!(quiet(&mut fake), (true, 250));
}

#[test]
fn a_writer_is_dead_when_it_was_seen_alive() {
    let mut fake = fake(&[1200], false);
    let mut told = |time: u64, is_taken| {
        fake.is_taken = is_taken;
        fake.pass(300 * time);
        let record: serde_json::Value = serde_json::from_str(&std::mem::take(&mut fake.out)).unwrap();
        record["writerAlive"].as_bool()
    };
    assert_eq!(told(1, None), None);
    assert_eq!(told(2, Some(false)), None);
    assert_eq!(told(3, Some(true)), Some(true));
    assert_eq!(told(4, Some(false)), Some(false));
}

#[test]
fn intervals_that_nobody_was_awake_for_have_one_digest() {
    let mut fake = fake(&[100_000], false);
    fake.pass(3000);
    assert_eq!(fake.told(), ["digest A0"]);
    fake.pass(3299);
    assert_eq!(fake.told(), [""; 0]);
    fake.pass(3300);
    assert_eq!(fake.told(), ["digest A0"]);
}

#[test]
fn those_that_are_due_at_once_settle_in_their_order() {
    let mut fake = fake(&[10, 5, 10, 5], false);
    assert_eq!(fake.wave.next(), Duration::from_secs(125));
    fake.pass(130);
    assert_eq!(
        fake.told(),
        [
            "sentinel A1",
            "settlement 1/4",
            "sentinel A3",
            "settlement 2/4",
            "sentinel A0",
            "settlement 3/4",
            "sentinel A2",
            "settlement 4/4"
        ]
    );
}

#[test]
fn a_second_sentinel_counts_when_it_was_there_with_the_first() {
    let mut first = fake(&[10], false);
    first.appear(0, &["{}", DONE, "{}", FAILED]);
    assert_eq!(
        first.out,
        "{\"type\":\"watcher.failed\",\"agentId\":\"A0\",\"reason\":\"duplicate-sentinel\",\"elapsedSeconds\":0,\"line\":4}\n"
    );
    assert_eq!(first.wave.end(), Some(End::Fault(Fault::DuplicateSentinel)));
    let mut second = fake(&[10], false);
    second.appear(0, &[DONE, "{}", "[]", "["]);
    assert!(second.out.contains("\"eventCount\":0,"), "{}", second.out);
    second.appear(0, &[FAILED, "["]);
    assert_eq!(second.told(), ["sentinel A0", "settlement 1/1"]);
    assert_eq!(second.wave.end(), Some(End::Completed));
}

#[test]
fn a_fault_ends_the_wave_or_takes_its_agent_out() {
    for (lines, fault) in
        [(&["{}", "", "{"][..], Fault::Malformed), (&["{}", "", "[]", "["], Fault::NonObject)]
    {
        let mut strict = fake(&[10, 10], false);
        strict.appear(1, lines);
        assert_eq!(strict.wave.end(), Some(End::Fault(fault)));
        assert!(strict.out.ends_with(",\"line\":3}\n"), "{}", strict.out);
        assert_eq!(strict.told(), ["failed A1"]);
    }
    let mut patient = fake(&[10, 10, 10], true);
    patient.appear(1, &["["]);
    patient.appear(0, &[DONE]);
    assert_eq!(patient.told(), ["failed A1", "sentinel A0", "settlement 1/2"]);
    assert_eq!(patient.wave.end(), None);
    patient.wave.observe(2, FileEvent::Fault(Fault::Unreadable), patient.now, &mut patient.out);
    assert_eq!(patient.told(), ["failed A2"]);
    assert_eq!(patient.wave.end(), Some(End::Fault(Fault::Unreadable)));
}

#[test]
fn those_that_have_not_started_settle_once_and_together() {
    let mut fake = fake(&[10, 1000, 1000], false);
    fake.wave.start = Some(Duration::from_secs(60));
    assert_eq!(fake.wave.next(), Duration::from_secs(60));
    assert!(!fake.wave.is_start_due(Duration::from_secs(59)));
    assert!(fake.wave.is_start_due(Duration::from_secs(61)));
    assert!(!fake.wave.is_start_due(Duration::from_secs(62)));
    assert_eq!(fake.wave.next(), Duration::from_secs(130));
    fake.wave.never_started(1, Duration::from_secs(61), &mut fake.out);
    fake.wave.never_started(1, Duration::from_secs(61), &mut fake.out);
    assert!(fake.out.contains("\"reason\":\"not-started\","), "{}", fake.out);
    assert_eq!(fake.told(), ["sentinel A1", "settlement 1/3"]);
    assert!(fake.wave.any_failed);
}

#[test]
fn a_cancelled_wave_says_how_far_it_came() {
    let mut fake = fake(&[10, 10], false);
    fake.appear(1, &[DONE]);
    fake.told();
    fake.wave.cancel(Duration::from_millis(1500), &mut fake.out);
    assert_eq!(
        fake.out,
        "{\"type\":\"watcher.cancelled\",\"elapsedSeconds\":1.5,\"settled\":1,\"total\":2}\n"
    );
}
