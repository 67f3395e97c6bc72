//! Cargo's own options, as `cargo tsc run` and `ab` take them.

use std::ffi::OsString;

use clap::Args;

/// Cargo's options that determine what is built.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cargo options; words after -- are then the program's arguments")]
pub struct CargoOptions {
    /// Build with optimisations
    #[arg(short, long)]
    release: bool,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE")]
    profile: Vec<OsString>,
    /// The package that has the program
    #[arg(short, long, value_name = "SPEC")]
    package: Vec<OsString>,
    /// The binary to run
    #[arg(long, value_name = "NAME")]
    bin: Vec<OsString>,
    /// The example to run
    #[arg(long, value_name = "NAME")]
    example: Vec<OsString>,
    /// Features to turn on
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Vec<OsString>,
    /// Turn on all features of the selected packages
    #[arg(long)]
    all_features: bool,
    /// Leave out the feature `default`
    #[arg(long)]
    no_default_features: bool,
    /// The platform to build for
    #[arg(long, value_name = "TRIPLE")]
    target: Vec<OsString>,
    /// The folder for what is built
    #[arg(long, value_name = "DIR")]
    target_dir: Vec<OsString>,
    /// The project's Cargo.toml
    #[arg(long, value_name = "PATH")]
    manifest_path: Vec<OsString>,
    /// The number of jobs at once
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    jobs: Vec<OsString>,
    /// A value of cargo's configuration, or a file of it
    #[arg(long, value_name = "KEY=VALUE")]
    config: Vec<OsString>,
    /// Do not change Cargo.lock
    #[arg(long)]
    locked: bool,
    /// Do not use the network
    #[arg(long)]
    offline: bool,
    /// The same as --locked and --offline
    #[arg(long)]
    frozen: bool,
}

impl CargoOptions {
    /// The words of a command as [`What::parse`](super::What::parse) takes it. If there are options, they are those of `run`, and the words
    /// are the program's arguments.
    #[must_use]
    pub fn with(&self, words: &[OsString]) -> Vec<OsString> {
        let options = self.words();
        if options.is_empty() {
            return words.to_vec();
        }
        let mut all = vec!["run".into()];
        all.extend(options);
        if !words.is_empty() {
            all.push("--".into());
            all.extend_from_slice(words);
        }
        all
    }

    fn words(&self) -> Vec<OsString> {
        let flags = [
            ("--release", self.release),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--locked", self.locked),
            ("--offline", self.offline),
            ("--frozen", self.frozen),
        ];
        let values = [
            ("--profile", &self.profile),
            ("--package", &self.package),
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--features", &self.features),
            ("--target", &self.target),
            ("--target-dir", &self.target_dir),
            ("--manifest-path", &self.manifest_path),
            ("--jobs", &self.jobs),
            ("--config", &self.config),
        ];
        let flags = flags.iter().filter(|(_, is_set)| *is_set);
        let flags = flags.map(|(name, _)| OsString::from(name));
        let values = values.iter().flat_map(|(name, values)| {
            let pair = move |value: &OsString| [OsString::from(name), value.clone()];
            values.iter().flat_map(pair)
        });
        flags.chain(values).collect()
    }
}
