import Bluetooth
import Testing

@testable import ScenarioRules

/// The rules by which values move, and how numbers are written.
struct MovingNumberTests {
  private func number(
    _ motion: NumberRule.Motion, _ format: NumberFormat = .uint8, at offset: Int = 0, scale: Double = 1
  ) -> MovingNumber {
    MovingNumber(
      NumberRule(motion: motion, format: format, offset: offset, scale: scale),
      generator: SeededGenerator(seed: 1, stream: 2))
  }

  @Test func aCounterCountsAndBeginsAgain() {
    var counter = number(.counter(start: 10, end: 13, step: 1, every: .seconds(1)))
    let values = (0...6).map { counter.value(at: .milliseconds(1000 * $0 + 500), in: []) }
    #expect(values == [[10], [11], [12], [13], [10], [11], [12]])
    var down = number(.counter(start: 3, end: 1, step: -1, every: .seconds(1)))
    #expect((0...3).map { down.value(at: .seconds($0), in: []) } == [[3], [2], [1], [3]])
  }

  @Test func aRampClimbsAndFallsBack() {
    var ramp = number(.ramp(start: 0, end: 1000, over: .seconds(10)), .uint16)
    #expect(ramp.value(at: .seconds(5), in: []) == [0xF4, 0x01])
    #expect(ramp.value(at: .seconds(10), in: []) == [0, 0])
  }

  @Test func aSineSwingsAroundItsMean() {
    var sine = number(.sine(mean: 0, amplitude: 100, period: .seconds(4)), .sint16)
    #expect(sine.value(at: .seconds(1), in: []) == [100, 0])
    #expect(sine.value(at: .seconds(3), in: []) == [0x9C, 0xFF])
  }

  @Test func aRandomWalkStaysWithinItsRangeAndDependsOnTimeAlone() {
    let motion = NumberRule.Motion.randomWalk(start: 50, step: 5, range: 40...60, every: .seconds(1))
    var often = number(motion)
    var once = number(motion)
    let values = (0...1000).map { often.value(at: .seconds($0), in: [])[0] }
    #expect(values.allSatisfy { (40...60).contains($0) })
    #expect(Set(values).count > 10)
    #expect(zip(values, values.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 6 })
    #expect(once.value(at: .seconds(1000), in: [])[0] == values[1000])
  }

  @Test func theNumberStandsInItsPlaceInTheTemplate() {
    var counter = number(.counter(start: 7, end: 9, step: 1, every: .seconds(1)), .uint16, at: 1)
    #expect(counter.value(at: .zero, in: [0xAA, 1, 2, 0xBB]) == [0xAA, 7, 0, 0xBB])
    #expect(counter.value(at: .zero, in: []) == [0, 7, 0])
    var scaled = number(.counter(start: 7, end: 9, step: 1, every: .seconds(1)), .uint16, scale: 100)
    #expect(scaled.value(at: .zero, in: []) == [0xBC, 0x02])
  }

  @Test func numbersAreHeldWithinTheirFormat() {
    #expect(NumberFormat.uint8.encode(300) == [255])
    #expect(NumberFormat.uint8.encode(-1) == [0])
    #expect(NumberFormat.uint16.encode(.nan) == [0, 0])
    #expect(NumberFormat.uint32.encode(.infinity) == [255, 255, 255, 255])
    #expect(NumberFormat.sint16.encode(-2) == [0xFE, 0xFF])
    #expect(NumberFormat.medfloat32.encode(36.8) == [0x70, 0x01, 0x00, 0xFF])
    #expect(NumberFormat.medfloat32.encode(-0.1) == [0xFF, 0xFF, 0xFF, 0xFF])
  }
}
