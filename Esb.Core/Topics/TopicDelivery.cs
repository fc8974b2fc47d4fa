using System.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>A message that a transport hands to an endpoint.</summary>
/// <param name="Message">The message; its <see cref="EsbMessage.Attempt"/> counts the attempts that were settled as <see cref="Settlement.Later"/> before.</param>
/// <param name="Parent">The trace that it belongs to; default where it came without one.</param>
/// <param name="Reply">Sends the answer to whoever asked; null where nobody waits for one.</param>
public sealed record TopicDelivery(EsbMessage Message, ActivityContext Parent, ReplySender? Reply);

/// <summary>Sends the answer to a request, once. An answer that finds nobody any more is no error.</summary>
public delegate ValueTask ReplySender(EsbMessage reply, CancellationToken cancellationToken);
