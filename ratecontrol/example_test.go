package ratecontrol_test

import (
	"fmt"

	"qinst.dev/ratecontrol"
)

func ExampleBudget() {
	b := ratecontrol.Budget{Target: 0.05}
	fmt.Printf("%.0f\n", b.Step(100e6, 8e6, 50e6)) // 3 ms too much
	fmt.Printf("%.0f\n", b.Step(100e6, 3.5e6, 50e6))
	// Output:
	// 3500000
	// 4250000
}
