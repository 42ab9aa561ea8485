import Adapter
import Bluetooth
import Testing

struct AdvertisingRotationTests {
  /// A controller with one set.
  private struct Controller {
    var rotation = AdvertisingRotation(sets: 1)
    var now = Instant.zero

    mutating func admit(_ numbers: ClosedRange<UInt32>) throws {
      for number in numbers {
        let isAdmitted = rotation.admit(AdvertisingSetID(number))
        try #require(isAdmitted)
      }
    }

    mutating func remove(_ number: UInt32) { rotation.remove(AdvertisingSetID(number)) }

    /// The advertising sets on the air in each of the turns that follow.
    mutating func turns(_ count: Int) -> [UInt32] {
      var heard: [UInt32] = []
      for _ in 0..<count {
        heard += rotation.onAir(at: now) { _ in true }.map(\.value)
        now = now.advanced(by: AdvertisingRotation.turn)
      }
      return heard
    }
  }

  @Test("Each is on the air within eight seconds of its beginning, and then every eight seconds (P19)")
  func everybodyHasATurn() throws {
    var controller = Controller()
    let all = AdvertisingRotation.limit
    try controller.admit(1...UInt32(all))
    let first = controller.turns(all)
    #expect(Set(first).count == all)
    let second = controller.turns(all)
    #expect(Set(second).count == all)
    let third = controller.turns(all)
    #expect(third == second)
  }

  @Test("One that begins again and again does not keep the others from the air (P19)", arguments: [1, 2])
  func oneThatBeginsAgainAndAgain(turns: Int) throws {
    var controller = Controller()
    try controller.admit(1...3)
    _ = controller.turns(6)
    var heard: [UInt32] = []
    for number in UInt32(100)..<124 {
      try controller.admit(number...number)
      heard += controller.turns(turns)
      controller.remove(number)
    }
    for member in UInt32(1)...3 { #expect(heard.count { $0 == member } >= 4, "\(member): \(heard)") }
  }

  @Test func whoeverGoesLeavesTheOrderAsItWas() throws {
    var controller = Controller()
    try controller.admit(1...5)
    _ = controller.turns(10)
    let order = controller.turns(5)
    #expect(Set(order).count == 5)
    _ = controller.turns(2)
    controller.remove(order[1])
    let rest = controller.turns(2)
    #expect(rest == [order[2], order[3]])
    controller.remove(order[0])
    let end = controller.turns(3)
    #expect(end == [order[4], order[2], order[3]])
  }

  @Test("What is pinned is on the air all the time, and the latest loses its set when there are fewer")
  func pinned() {
    var rotation = AdvertisingRotation(sets: 3)
    var now = Instant.zero
    func admit(_ number: UInt32, isPinned: Bool = false) -> Bool {
      rotation.admit(AdvertisingSetID(number), isPinned: isPinned)
    }
    func turns() -> [[UInt32]] {
      (0..<4).map { _ in
        now = now.advanced(by: AdvertisingRotation.turn)
        return rotation.onAir(at: now) { _ in true }.map(\.value).sorted()
      }
    }
    for number in UInt32(1)...2 { #expect(admit(number)) }
    for number in UInt32(3)...4 { #expect(admit(number, isPinned: true)) }
    #expect(turns() == [[2, 3, 4], [1, 3, 4], [2, 3, 4], [1, 3, 4]])
    #expect(!admit(5, isPinned: true) && !rotation.contains(AdvertisingSetID(5)))
    rotation.sets = 2
    #expect(admit(3, isPinned: true) && !admit(4, isPinned: true))
    #expect(turns().allSatisfy { $0.contains(3) && !$0.contains(4) })
    // Set 3 is replaced by a set that is not pinned.
    #expect(admit(3) && admit(2, isPinned: true))
    #expect(turns().allSatisfy { $0.contains(2) && $0.count == 2 })
    // All sets may be pinned if there are no other advertisements, which would have no turn left.
    for number in UInt32(1)...3 { rotation.remove(AdvertisingSetID(number)) }
    for number in UInt32(6)...7 { #expect(admit(number, isPinned: true)) }
    #expect(!admit(8) && rotation.refusal(isPinned: false).message.contains("train"))
    #expect(turns() == [[UInt32]](repeating: [6, 7], count: 4))
  }
}
