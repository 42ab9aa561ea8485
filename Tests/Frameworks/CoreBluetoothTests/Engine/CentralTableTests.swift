import Foundation
import Testing

@testable import CoreBluetooth

@Suite struct CentralTableTests {
  @Test("R36: a central keeps its object while somebody holds it, however many others come")
  func manyCentrals() {
    var table = CentralTable()
    let id = UUID().uuidString
    let first = table.find(id)
    for _ in 0..<1000 { _ = table.find(UUID().uuidString) }
    #expect(table.find(id) === first && first != nil)
  }

  @Test("the newest are held, and only they")
  func bounded() {
    var table = CentralTable()
    let newest = (0..<1000).map { _ in UUID().uuidString }
    weak let old = table.find(newest[0])
    #expect(old != nil)
    for id in newest { _ = table.find(id) }
    #expect(old == nil)
    weak let last = table.find(newest[999])
    #expect(last != nil && table.find(newest[999]) === last)
  }

  @Test("an identifier that is no UUID is not a central") func noIdentifier() {
    var table = CentralTable()
    #expect(table.find("Phone") == nil)
  }
}
