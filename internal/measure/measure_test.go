package measure

import "testing"

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Time(int64(0)), "0ns"}, {Time(int64(999)), "999ns"}, {Time(int64(1000)), "1.00us"},
		{Time(int64(12345)), "12.3us"}, {Time(int64(987654321)), "988ms"}, {Time(int64(61e9)), "61.0s"},
		{Time(int64(-5e6)), "-5.00ms"},
		{Count(0), "0"}, {Count(1234567), "1,234,567"}, {Count(-1234), "-1,234"}, {Count(123), "123"},
		{Percent(1, 0), "-"}, {Percent(1, 8), "12.5%"},
		{Bytes(512), "512 B"}, {Bytes(3 << 20), "3 MiB"},
		{Bar(1, 2, 10), "#####"}, {Bar(0, 2, 10), ""}, {Bar(1, 0, 10), ""}, {Bar(1<<62, 1<<62+1, 4), "####"},
		{Bar(1<<62, 3, 4), "####"}, {Bar(-1, 3, 4), ""}, {Bar(1, 4, 10), "###"},
		{Short("abcdefghij", 6), "...hij"}, {Short("abc", 6), "abc"},
		{Short("a.b/c/d.(*T).m", 14), "a.b/c/d.(*T).m"}, {Short("a.b/c/d.(*T).m", 13), "d.(*T).m"},
		{Short("a.b/c/v2.(*T).m: range x/y", 20), "...(*T).m: range x/y"},
		{Short("a.b/c/v2.(*T).m", 14), "c/v2.(*T).m"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// Control characters for terminals are shown as Go writes them; other text stays as it is.
func TestVisible(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"main.(*Cache[int]).Get": "main.(*Cache[int]).Get", "größe \\n 日本": "größe \\n 日本", "": "", "\ufffd": "\ufffd",
		"\x1b[31mred\a": `\x1b[31mred\a`, "a\nb\tc": `a\nb\tc`, "\u202eabc": `\u202eabc`,
		"zero\u200bwidth": `zero\u200bwidth`, "\xffab\x7f": `\xffab\x7f`, "\u0085\u2028": `\u0085\u2028`,
	} {
		if got := Visible(s); got != want {
			t.Errorf("%q: %s, expected %s", s, got, want)
		}
	}
}

func TestChange(t *testing.T) {
	for percent, want := range map[float64]string{-0.04: "+0.0", 0: "+0.0", -0.06: "-0.1", 12.34: "+12.3"} {
		if got := Change(percent); got != want {
			t.Errorf("%v: %s, expected %s", percent, got, want)
		}
	}
}

func TestPercentOfNothing(t *testing.T) {
	if got := Percent(-2, 100_000); got != "0.0%" {
		t.Errorf("%s, expected 0.0%%", got)
	}
}
