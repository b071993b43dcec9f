//! The scenario file: JSON text in, plain types out.
//!
//! What is here has been checked; a mistake is one line that says where it is, `answers[1][0]: ...`.

use std::time::Duration;

use serde_json::{Map, Value};

/// A whole script.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// At least one.
    pub(crate) answers: Vec<Answer>,
    pub(crate) repeat: Repeat,
}

/// What a request beyond the last answer gets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Repeat {
    /// HTTP 500.
    No,
    /// The last answer.
    Last,
    /// The first answer, and so on.
    All,
}

/// What one request is answered with.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A stream of events.
    Stream { steps: Vec<Step>, end: End },
    /// A plain HTTP answer after a wait.
    Http { wait: Duration, status: u16, body: Value },
}

/// One thing done on the way.
#[derive(Debug)]
pub(crate) enum Step {
    Wait(Duration),
    /// Send the head and `response.created`.
    Start,
    Item(Item),
}

/// Something that the model says or wants done.
#[derive(Debug)]
pub(crate) enum Item {
    Message(String),
    Reasoning(String),
    Command(String),
    Patch(String),
    /// The array that `update_plan` takes.
    Plan(Value),
    Search(String),
    Mcp {
        server: String,
        tool: String,
        arguments: Value,
    },
    /// The arguments of the call.
    SpawnAgent(Value),
    /// An item that is sent as it stands.
    Raw(Value),
}

/// How a stream ends.
#[derive(Debug)]
pub(crate) enum End {
    /// `response.completed`, with the numbers or without.
    Completed(Option<Usage>),
    /// `response.failed`.
    Failed { code: String, message: String },
    /// The connection is closed.
    Cut,
    /// Nothing more.
    Hang,
}

/// The tokens of one answer: `cached` is part of `input`, `reasoning` of `output`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
}

impl Default for Usage {
    /// Small numbers that are all different, so that a test sees a mix-up.
    fn default() -> Usage {
        Usage { input: 100, cached: 40, output: 20, reasoning: 5 }
    }
}

/// Reads a scenario; the error is one line.
pub(crate) fn parse(text: &[u8]) -> Result<Scenario, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
    let top = Fields::of(&value, "the scenario", &["answers", "repeat"])?;
    let answers = match top.get("answers") {
        Some(Value::Array(answers)) if !answers.is_empty() => answers,
        _ => return Err("\"answers\" must be a list of at least one answer".to_string()),
    };
    let repeat = match top.get("repeat").map(Value::as_str) {
        None => Repeat::No,
        Some(Some("last")) => Repeat::Last,
        Some(Some("all")) => Repeat::All,
        Some(_) => return Err("\"repeat\" must be \"last\" or \"all\"".to_string()),
    };
    let answers =
        answers.iter().enumerate().map(|(at, answer)| parse_answer(answer, &format!("answers[{at}]")));
    Ok(Scenario { answers: answers.collect::<Result<_, _>>()?, repeat })
}

/// One word of an answer as written; [`parse_answer`] sorts them into an [`Answer`].
enum Word {
    Step(Step),
    Usage(Option<Usage>),
    Last(Last),
}

/// A word after which nothing can come.
enum Last {
    Stream(End),
    Http { status: u16, body: Value },
}

fn parse_answer(value: &Value, place: &str) -> Result<Answer, String> {
    let single = std::slice::from_ref(value);
    let words = value.as_array().map_or(single, Vec::as_slice);
    let mut steps = Vec::new();
    let mut usage = None;
    let mut last = None;
    for (at, word) in words.iter().enumerate() {
        let place = if value.is_array() { format!("{place}[{at}]") } else { place.to_string() };
        if last.is_some() {
            return Err(format!("{place}: nothing can follow a step that ends the answer"));
        }
        match parse_word(word, &place)? {
            Word::Step(step) => steps.push(step),
            Word::Usage(_) if usage.is_some() => return Err(format!("{place}: a second \"usage\"")),
            Word::Usage(numbers) => usage = Some(numbers),
            Word::Last(_) if usage.is_some() => {
                return Err(format!("{place}: an answer that ends like this has no \"usage\""));
            }
            Word::Last(word) => last = Some((word, place)),
        }
    }
    match last {
        None => Ok(Answer::Stream { steps, end: End::Completed(usage.unwrap_or(Some(Usage::default()))) }),
        Some((Last::Stream(end), _)) => Ok(Answer::Stream { steps, end }),
        Some((Last::Http { status, body }, place)) => {
            let waits = steps.iter().map(|step| match step {
                Step::Wait(time) => Ok(*time),
                _ => Err(format!("{place}: only \"wait_ms\" can stand before \"http\"")),
            });
            Ok(Answer::Http { wait: waits.sum::<Result<_, _>>()?, status, body })
        }
    }
}

fn parse_word(value: &Value, place: &str) -> Result<Word, String> {
    let item = |item| Ok(Word::Step(Step::Item(item)));
    let (key, inner) = match value {
        Value::String(word) => {
            return match word.as_str() {
                "start" => Ok(Word::Step(Step::Start)),
                "cut" => Ok(Word::Last(Last::Stream(End::Cut))),
                "hang" => Ok(Word::Last(Last::Stream(End::Hang))),
                _ => Err(format!("{place}: {word:?} is not a step (a text is {{\"message\": \"TEXT\"}})")),
            };
        }
        Value::Object(object) if object.len() == 1 => object.iter().next().expect("its length is 1"),
        _ => return Err(format!("{place}: a step is a word or an object with one key")),
    };
    let place = &format!("{place}: \"{key}\"");
    match key.as_str() {
        "message" => item(Item::Message(text(inner, place)?)),
        "reasoning" => item(Item::Reasoning(text(inner, place)?)),
        "command" => item(Item::Command(text(inner, place)?)),
        "patch" => item(Item::Patch(text(inner, place)?)),
        "plan" if inner.is_array() => item(Item::Plan(inner.clone())),
        "plan" => Err(format!("{place} must be a list of steps")),
        "search" => item(Item::Search(text(inner, place)?)),
        "mcp" => {
            let fields = Fields::of(inner, place, &["server", "tool", "arguments"])?;
            let arguments = fields.get("arguments").cloned().unwrap_or_else(|| Value::Object(Map::new()));
            item(Item::Mcp { server: fields.text("server")?, tool: fields.text("tool")?, arguments })
        }
        "spawn_agent" => item(Item::SpawnAgent(object(inner, place)?)),
        "item" => item(Item::Raw(object(inner, place)?)),
        "wait_ms" => Ok(Word::Step(Step::Wait(Duration::from_millis(number(inner, place)?)))),
        "usage" if inner.is_null() => Ok(Word::Usage(None)),
        "usage" => {
            let fields = Fields::of(inner, place, &["input", "cached", "output", "reasoning"])?;
            let default = Usage::default();
            Ok(Word::Usage(Some(Usage {
                input: fields.number_or("input", default.input)?,
                cached: fields.number_or("cached", default.cached)?,
                output: fields.number_or("output", default.output)?,
                reasoning: fields.number_or("reasoning", default.reasoning)?,
            })))
        }
        "fail" => {
            let fields = Fields::of(inner, place, &["code", "message"])?;
            let (code, message) = (fields.text("code")?, fields.text("message")?);
            Ok(Word::Last(Last::Stream(End::Failed { code, message })))
        }
        "http" => {
            let fields = Fields::of(inner, place, &["status", "body"])?;
            let status = fields.number_or("status", 0)?;
            let status = u16::try_from(status).ok().filter(|status| (200..600).contains(status));
            let status =
                status.ok_or_else(|| format!("{place}: \"status\" must be a number from 200 to 599"))?;
            let body = fields.get("body").cloned().unwrap_or_else(|| Value::String(String::new()));
            Ok(Word::Last(Last::Http { status, body }))
        }
        _ => Err(format!("{place} is not a step")),
    }
}

/// An object whose keys are all known, and where it stands.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    place: &'a str,
}

impl<'a> Fields<'a> {
    fn of(value: &'a Value, place: &'a str, known: &[&str]) -> Result<Fields<'a>, String> {
        let object = value.as_object().ok_or_else(|| format!("{place} must be an object"))?;
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(stranger) => Err(format!("{place} has no \"{stranger}\"; it has {}", known.join(", "))),
            None => Ok(Fields { object, place }),
        }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key)
    }

    fn text(&self, key: &str) -> Result<String, String> {
        text(self.get(key).unwrap_or(&Value::Null), &format!("{}: \"{key}\"", self.place))
    }

    fn number_or(&self, key: &str, default: u64) -> Result<u64, String> {
        self.get(key).map_or(Ok(default), |value| number(value, &format!("{}: \"{key}\"", self.place)))
    }
}

fn text(value: &Value, place: &str) -> Result<String, String> {
    value.as_str().map(str::to_string).ok_or_else(|| format!("{place} must be a text"))
}

fn number(value: &Value, place: &str) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("{place} must be a whole number, 0 or more"))
}

fn object(value: &Value, place: &str) -> Result<Value, String> {
    if value.is_object() { Ok(value.clone()) } else { Err(format!("{place} must be an object")) }
}
