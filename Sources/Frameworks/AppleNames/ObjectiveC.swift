private import Glibc
import Synchronization

/// Calls a function: on Linux there are no objects for a pool to release.
/// - Returns: The function's result.
/// - Throws: The function's error.
public func autoreleasepool<Result, Failure: Error>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result { try body() }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Locks an object, as often as this thread asks for it; waits while another thread has it locked.
/// - Parameter object: A class instance; it is not retained.
/// - Returns: 0.
@discardableResult public func objc_sync_enter(_ object: Any) -> Int32 {
  let identifier = ObjectIdentifier(object as AnyObject)
  let lock = ObjectLock.all.withLock { locks in
    let lock = locks[identifier] ?? ObjectLock()
    lock.userCount += 1
    locks[identifier] = lock
    return Unchecked(lock)
  }.value
  return pthread_mutex_lock(lock.mutex)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Unlocks an object once.
/// - Parameter object: The locked object.
/// - Returns: 0; -1 if this thread has not locked it.
@discardableResult public func objc_sync_exit(_ object: Any) -> Int32 {
  let identifier = ObjectIdentifier(object as AnyObject)
  return ObjectLock.all.withLock { locks in
    guard let lock = locks[identifier], pthread_mutex_unlock(lock.mutex) == 0 else { return -1 }
    lock.userCount -= 1
    if lock.userCount == 0 { locks[identifier] = nil }
    return 0
  }
}

/// An object's lock, while a thread has it or waits for it.
private final class ObjectLock {
  static let all = Mutex<[ObjectIdentifier: ObjectLock]>([:])

  let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// How often it is locked, and waited for.
  var userCount = 0

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    // Such a mutex knows its thread: another one cannot unlock it.
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }
}

/// A lock to be used outside of the table's own lock.
private struct Unchecked: @unchecked Sendable {
  let value: ObjectLock
  init(_ value: ObjectLock) { self.value = value }
}
