import Testing

@testable import BledCore

/// Places of callers at the socket for tokens.
@Suite struct CallerPlacesTests {
  private var places = CallerPlaces<Int>()

  @Test("A user with too many idle programs loses the oldest of its own, never another's")
  mutating func ownOldest() {
    #expect(places.add(100, of: 7) == nil)
    for caller in 0..<8 { #expect(places.add(caller, of: 1) == nil) }
    for caller in 8..<50 { #expect(places.add(caller, of: 1) == caller - 8) }
    #expect(!places.isFull)
    places.remove(49)
    #expect(places.add(50, of: 1) == nil)
    #expect(places.add(51, of: 1) == 42)
  }

  @Test("Fifteen users with any number of idle programs leave room for others", arguments: [4, 15, 40])
  mutating func manyUsers(users: Int) {
    var next = 0
    for _ in 0..<20 {
      for user in 0..<users {
        _ = places.add(next, of: UInt32(user))
        next += 1
      }
    }
    #expect(!places.isFull)
    #expect(places.add(-1, of: 1000) == nil)
    #expect(places.add(-2, of: nil) == nil)
  }
}
