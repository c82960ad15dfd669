package main

import (
	"crypto/sha256"
	"math"
	"slices"
	"strconv"
)

// What parts have for work: each takes about us microseconds.

func work(us int) uint64 { return kernelMix(us) }

func kernelMix(us int) (h uint64) {
	for i := range us * 700 {
		h = (h ^ uint64(i)) * 0x9e3779b97f4a7c15
	}
	return h
}

func kernelHash(us int) uint64 {
	var block [64]byte
	for range us * 9 {
		sum := sha256.Sum256(block[:])
		copy(block[:], sum[:])
	}
	return uint64(block[0])
}

func kernelSort(us int) uint64 {
	var list [64]int
	for range 1 + us*2/3 {
		for i := range list {
			list[i] = (i * 37) & 63
		}
		slices.Sort(list[:])
	}
	return uint64(list[0])
}

func kernelFloat(us int) uint64 {
	x := 1.0
	for range us * 60 {
		x += math.Sqrt(x) / 3
	}
	return uint64(x)
}

func kernelTable(us int) (sum uint64) {
	var table [256]uint32
	for i := range us * 500 {
		at := &table[(i*i)&255]
		*at += uint32(i)
		sum += uint64(*at)
	}
	return sum
}

func kernelText(us int) (n uint64) {
	var buf [32]byte
	for i := range us * 25 {
		n += uint64(len(strconv.AppendInt(buf[:0], int64(i)*7919, 10)))
	}
	return n
}
