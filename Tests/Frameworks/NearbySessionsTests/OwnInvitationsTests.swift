import Testing

@testable import NearbySessions

/// This side's pending invitations, and those of the invited peers.
@Suite struct OwnInvitationsTests {
  private let key: [UInt8] = [1], other: [UInt8] = [2]

  @Test("an invitation without an own one to its peer is offered")
  func offered() {
    var own = OwnInvitations()
    own.begin(5)
    let treatment = own.received((1, []), from: 6, key)
    #expect(treatment == .offered)
  }

  @Test("an invitation is held until the key of the invited peer is known, and shows if it is from that peer")
  func held() {
    var own = OwnInvitations()
    own.begin(5)
    let treatments = [own.received((1, [7]), from: 5, key), own.received((2, [8]), from: 5, other)]
    #expect(treatments == [.held, .held])
    let held = own.opened(5, 3, key)
    #expect(held.map(\.number) == [1, 2] && held.map(\.context) == [[7], [8]])
    #expect(own.session(with: 5) == 3)
    let known = [own.received((1, [7]), from: 5, key), own.received((2, [8]), from: 5, other)]
    #expect(known == [.crossing, .offered])
    let left = own.end(5)
    #expect(left.isEmpty && own.count == 0)
  }

  @Test("a held invitation goes with its session: a peer cannot have others kept by repeating it")
  func withdrawn() {
    var own = OwnInvitations()
    own.begin(5)
    for number in 1...3 { _ = own.received((number, [7]), from: 5, other) }
    own.withdrawn(2, by: 5)
    own.withdrawn(3, by: 6)
    let left = own.end(5)
    #expect(left.map(\.number) == [1, 3])
  }

  @Test("an own invitation that ends without a channel leaves those that were held, and its number is not used again")
  func ended() {
    var own = OwnInvitations()
    own.begin(5)
    _ = own.received((1, [7]), from: 5, key)
    let first = own.number(to: 5)
    let left = own.end(5)
    #expect(left.map(\.number) == [1])
    own.begin(5)
    #expect(own.count == 1 && own.number(to: 5) != first && own.session(with: 5) == nil)
  }
}
