namespace Esb.Core.Planning;

/// <summary>Asks a host to release the queues of an endpoint, so that they can be replaced; answered by <see cref="QueuesLetGo"/> once its
/// in-flight deliveries have completed.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="For">Time for which it leaves them alone if no further request arrives; zero: it may use them again.</param>
public sealed record LetGoOfQueues(string Endpoint, TimeSpan For);

/// <summary>A host has released the queues of an endpoint, or holds none; or uses them again.</summary>
public sealed record QueuesLetGo;

/// <summary>Asks a host to suspend its publishes for a moment; answered by <see cref="PublishesHeld"/> once in-flight publishes have
/// arrived.</summary>
/// <param name="Destinations">Exchanges and queues.</param>
/// <param name="For">Time for which it waits if no further request arrives; zero: it may resume.</param>
public sealed record HoldPublishes(IReadOnlyList<string> Destinations, TimeSpan For);

/// <summary>A host has suspended its publishes as requested; or has resumed them.</summary>
public sealed record PublishesHeld;
