import Foundation

@objc protocol Source {
  @objc optional func next() -> Int
}

class Reader: NSObject {
  @objc dynamic var value = 0

  func read(_ source: Source) -> Bool {
    // #selector(comment)
    _ = #keyPath(Reader.value)
    return (source as AnyObject).responds(to: #selector(Source.next))
  }

  func both() {
    Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(two(_:_:)), userInfo: nil, repeats: true)
  }

  @objc func two(_ one: Int, _ other: Int) {}
}
