using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>The answer of an instance to the caller who waits for it. Immutable.</summary>
/// <param name="Caller">Who waits.</param>
/// <param name="Message">The message; null if the workflow does not want the caller's message, or failed.</param>
/// <param name="Failure">Why the instance ended without an answer; null if it has one.</param>
internal sealed record InstanceAnswer(Caller Caller, EsbMessage? Message, EsbException? Failure);
