package profile

import "testing"

func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"main.main":              "main",
		"net/http.(*conn).serve": "net/http",
		"example.com/a/b.(*T[example.com/c.D]).M":    "example.com/a/b",
		"example.com/a/b.Map[example.com/c/d.E,int]": "example.com/a/b",
		"gopkg.in/yaml%2ev3.Unmarshal":               "gopkg.in/yaml%2ev3",
		"main.main.func1.2":                          "main",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%s is of %s, expected %s", name, got, want)
		}
	}
}
