namespace Esb.Core.Planning;

/// <summary>Asks a host to let go of the queues of an endpoint, so that they can be replaced; answered by <see cref="QueuesLetGo"/> once its deliveries under way have finished.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="For">How long it leaves them alone, in case nothing more is heard; zero: it may take them again.</param>
public sealed record LetGoOfQueues(string Endpoint, TimeSpan For);

/// <summary>A host has let go of the queues of an endpoint, or has none to let go of; or has taken them again.</summary>
public sealed record QueuesLetGo;

/// <summary>Asks a host to hold back what it publishes for a moment; answered by <see cref="PublishesHeld"/> once what was on its way has arrived.</summary>
/// <param name="Destinations">Exchanges and queues.</param>
/// <param name="For">How long it waits, in case nothing more is heard; zero: it may go on.</param>
public sealed record HoldPublishes(IReadOnlyList<string> Destinations, TimeSpan For);

/// <summary>A host holds back what it was asked to; or has gone on.</summary>
public sealed record PublishesHeld;
