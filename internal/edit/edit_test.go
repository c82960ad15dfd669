package edit

import "testing"

func TestBytes(t *testing.T) {
	t.Parallel()
	b := New([]byte("one two three"))
	b.Replace(4, 7, "2")
	b.Insert(4, "<")
	b.Insert(4, "-")
	b.Insert(13, "!")
	b.Insert(0, ">")
	if got, want := string(b.Bytes()), ">one <-2 three!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOverlapPanics(t *testing.T) {
	t.Parallel()
	b := New([]byte("abcdef"))
	b.Replace(1, 4, "x")
	b.Replace(2, 3, "y")
	defer func() {
		if recover() == nil {
			t.Error("overlapping edits were accepted")
		}
	}()
	b.Bytes()
}
