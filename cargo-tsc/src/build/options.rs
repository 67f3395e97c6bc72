//! Cargo's own options, as `cargo tsc run` and `ab` take them.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};

const HEADING: &str = "Cargo options; words after -- are then the program's arguments";

/// The name, the letter, the value if there is one, and the help of each option.
const OPTIONS: [(&str, Option<char>, &str, &str); 16] = [
    ("release", Some('r'), "", "Build with optimisations"),
    ("profile", None, "PROFILE", "Build with this profile"),
    ("package", Some('p'), "SPEC", "The program's package"),
    ("bin", None, "NAME", "The binary to run"),
    ("example", None, "NAME", "The example to run"),
    ("features", Some('F'), "FEATURES", "Features to turn on"),
    ("all-features", None, "", "Turn on all features"),
    ("no-default-features", None, "", "Leave out `default`"),
    ("target", None, "TRIPLE", "The platform to build for"),
    ("target-dir", None, "DIR", "The folder for what is built"),
    ("manifest-path", None, "PATH", "The project's Cargo.toml"),
    ("jobs", Some('j'), "N", "The number of jobs at once"),
    ("config", None, "KEY=VALUE", "A value of cargo's settings"),
    ("locked", None, "", "Do not change Cargo.lock"),
    ("offline", None, "", "Do not use the network"),
    ("frozen", None, "", "The same as --locked --offline"),
];

/// Cargo's options that determine what is built, as words.
#[derive(Clone, Debug, Default)]
pub struct CargoOptions(Vec<OsString>);

impl CargoOptions {
    /// The words of a command as [`What::parse`](super::What::parse) takes it. If there are options, they are those of `run`, and the words
    /// are the program's arguments.
    #[must_use]
    pub fn with(&self, words: &[OsString]) -> Vec<OsString> {
        if self.0.is_empty() {
            return words.to_vec();
        }
        let mut all = vec!["run".into()];
        all.extend_from_slice(&self.0);
        if !words.is_empty() {
            all.push("--".into());
            all.extend_from_slice(words);
        }
        all
    }
}

impl Args for CargoOptions {
    fn augment_args(command: Command) -> Command {
        let args = OPTIONS.iter().map(|&(name, letter, value, help)| {
            let arg = Arg::new(name).long(name).short(letter).help(help);
            let arg = arg.help_heading(HEADING);
            match value {
                "" => arg.action(ArgAction::SetTrue),
                _ => arg
                    .action(ArgAction::Append)
                    .value_name(value)
                    .value_parser(value_parser!(OsString)),
            }
        });
        command.args(args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CargoOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut words = Vec::new();
        for (name, _, value, _) in OPTIONS {
            let option = OsString::from(format!("--{name}"));
            if !value.is_empty() {
                let values = matches.get_many::<OsString>(name).into_iter().flatten();
                words.extend(values.flat_map(|value| [option.clone(), value.clone()]));
            } else if matches.get_flag(name) {
                words.push(option);
            }
        }
        Ok(Self(words))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
