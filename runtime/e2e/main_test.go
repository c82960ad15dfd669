package e2e_test

import (
	"os"
	"testing"

	"qinst.dev/runtime/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
