using Esb.Topics.RabbitMq.Wire;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>A delivery on its way from the channel to the handler.</summary>
/// <param name="Session">The channel over which it arrived.</param>
/// <param name="Message">The message.</param>
/// <param name="Place">Its place among the unsettled deliveries of that channel.</param>
internal sealed record Arrival(ParallelSession Session, WireMessage Message, LinkedListNode<ulong> Place);
