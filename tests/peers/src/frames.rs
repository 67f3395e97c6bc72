//! puffin's frames as a contestant: for puffin itself, and for profiling, which writes to it.

use peers::{Contestant, Reading, Readings};
use puffin::{GlobalFrameView, MergeScope, merge_scopes_for_thread};

pub struct Frames(GlobalFrameView);

impl Contestant for Frames {
    fn start() -> Self {
        puffin::set_scopes_on(true);
        Self(GlobalFrameView::default())
    }

    fn stretch(calls: &mut dyn FnMut()) {
        calls();
        puffin::GlobalProfiler::lock().new_frame();
    }

    fn report(self) -> Readings {
        let view = self.0.lock();
        let frames: Vec<_> = view
            .recent_frames()
            .filter_map(|frame| frame.unpacked().ok())
            .collect();
        let Some(thread) = frames
            .iter()
            .find_map(|frame| frame.thread_streams.keys().next())
        else {
            return Readings::default();
        };
        let scopes =
            merge_scopes_for_thread(view.scope_collection(), &frames, thread).unwrap_or_default();
        Readings::of(|name| {
            find(&scopes, name, |id| {
                view.scope_collection()
                    .fetch_by_id(id)
                    .is_some_and(|details| details.name().ends_with(name))
            })
        })
    }
}

fn find(
    scopes: &[MergeScope<'_>],
    name: &str,
    is_named: impl Fn(&puffin::ScopeId) -> bool,
) -> Option<Reading> {
    let scope = scopes
        .iter()
        .find(|scope| is_named(&scope.id) || scope.data == name)?;
    Some(Reading::new(
        scope.num_pieces as u64,
        scope.total_duration_ns as f64 / scope.num_pieces as f64,
    ))
}
