package trace

// restore puts all goroutines and threads into the states at the beginning of a cut. Running
// goroutines must come last: one with open procedures enters them running, and there must never
// be more running goroutines than processors.
func (m *merger) restore(list []snapshot) {
	byID := map[uint32]*thread{}
	for _, th := range m.threads {
		byID[th.id] = th
	}
	nobody := &thread{cursor: new(cursor), p: -1, waits: change{p: -1}}
	for _, runs := range []bool{false, true} {
		for i := range list {
			s := &list[i]
			if runs != (s.onThread() && s.state != Blocked) {
				continue
			}
			th := nobody
			if s.onThread() {
				th = byID[s.thread]
			}
			th.seenIn, th.lost, th.tid = true, false, s.tid // the first buffer's head adds nothing
			if s.p >= 0 && m.procOK(s.p) && m.owner[s.p] == nil && th.p < 0 {
				m.takeProc(th, s.p)
			}
			if s.g != 0 && m.gors.live[s.g] == nil && s.state != None {
				m.appear(th, s)
			}
		}
	}
	if nobody.g != nil {
		nobody.g.th, nobody.g = nil, nil
	}
}

// appear creates a goroutine, enters its open procedures, and brings it into its state.
func (m *merger) appear(th *thread, s *snapshot) {
	g := m.create(th, s.g, s.seq, Runnable, s.pc, ByCode, NoSlot)
	say := func(kind Kind, arg uint64) {
		if arg != 0 {
			m.emit(Event{Kind: kind, G: g.id, Slot: g.slot, By: NoSlot, arg: arg, Thread: ThreadID(th.id)})
		}
	}
	if s.state != Runnable || len(s.probes)+len(s.regions) > 0 || s.name|s.labels != 0 {
		m.change(th, g, Running, 0, ByCode, NoSlot)
	}
	say(Named, s.name)
	say(Labeled, s.labels)
	for _, text := range s.regions {
		m.emit(Event{Kind: Region, G: g.id, Slot: g.slot, By: NoSlot, arg: uint64(text), aux: 1,
			Thread: ThreadID(th.id)})
	}
	for _, p := range s.probes {
		m.enter(th, p)
	}
	s.off(th, m.now)
	if s.state == Blocked || th.off.was == Syscall {
		m.change(th, g, Syscall, 0, ByCode, NoSlot) // else the step below would repair the way there
	}
	last := Event{To: s.state, Cause: ByCode, By: NoSlot}
	if s.state == Waiting {
		last.arg, last.obj, last.aux = s.reason, s.obj, s.stack
	}
	m.step(th, g, last)
}
