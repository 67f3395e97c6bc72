//! Code in another order, with some more that nothing uses.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use quote::ToTokens as _;
use syn::Item;

use crate::random::Random;

/// Gives the functions and the implementations in all files of a crate another order, and adds unused functions to it.
pub fn shuffle(source: &Path, seed: u64) -> io::Result<()> {
    let mut random = Random(0x5eed + seed);
    shuffle_folder(source, &mut random)?;
    let root = source.join("lib.rs");
    let mut text = fs::read_to_string(&root)?;
    for number in 0..3 + random.below(20) {
        let mut body = String::new();
        for _ in 0..random.below(60) {
            write!(
                body,
                "x = core::hint::black_box(x.wrapping_mul({})).rotate_left({}); ",
                random.below(1000),
                random.below(60)
            )
            .expect("a text can be written");
        }
        writeln!(
            text,
            "fn unused_{number}(mut x: u64) -> u64 {{ {body} x }}\n#[used] static UNUSED_{number}: fn(u64) -> u64 = unused_{number};"
        )
        .expect("a text can be written");
    }
    fs::write(root, text)
}

fn shuffle_folder(folder: &Path, random: &mut Random) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut paths: Vec<_> = entries?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            shuffle_folder(&path, random)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut file =
                syn::parse_file(&fs::read_to_string(&path)?).map_err(io::Error::other)?;
            shuffle_items(&mut file.items, random);
            fs::write(&path, file.into_token_stream().to_string())?;
        }
    }
    Ok(())
}

/// Only functions and implementations change their places: macros must stay before their uses.
fn shuffle_items(items: &mut [Item], random: &mut Random) {
    let moves = |item: &Item| matches!(item, Item::Fn(_) | Item::Impl(_));
    let places: Vec<usize> = (0..items.len())
        .filter(|&place| moves(&items[place]))
        .collect();
    let mut order = places.clone();
    random.shuffle(&mut order);
    let moved: Vec<Item> = order.iter().map(|&place| items[place].clone()).collect();
    for (place, item) in places.into_iter().zip(moved) {
        items[place] = item;
    }
    for item in items {
        match item {
            Item::Impl(item) => random.shuffle(&mut item.items),
            Item::Mod(item) => {
                if let Some((_, items)) = &mut item.content {
                    shuffle_items(items, random);
                }
            }
            _ => {}
        }
    }
}
