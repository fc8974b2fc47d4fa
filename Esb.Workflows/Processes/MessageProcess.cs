using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;
using Esb.Workflows.Processes.Endings;
using Esb.Workflows.Processes.Tracing;

namespace Esb.Workflows.Processes;

/// <summary>A list of stateless steps that is bound to the running bus.</summary>
/// <param name="model">The compiled process.</param>
/// <param name="steps">Its steps.</param>
/// <param name="traces">Follows messages for operators.</param>
/// <param name="endings">Runs the steps with what waits for the end of the outermost process; null if nothing does.</param>
internal sealed class MessageProcess(ProcessModel model, MessageStep steps, TraceSwitch traces, ProcessEndings? endings) : IMessageProcess
{
    public string Name { get; } = model.Name;

    public bool NeedsTopics => model.NeedsTopics;

    public bool Accepts => model.Accepts;

    public ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        context.Process = Name;
        if (context.Follower is { } outer)
            outer.Enter(model); // a step runs this process as a part of its own
        else if (traces.Follow(context) is { } follower)
            return FollowAsync(follower, context, cancellationToken);
        return RunSteps(context, cancellationToken);
    }

    private ValueTask RunSteps(MessageContext context, CancellationToken cancellationToken) =>
        endings is null ? steps(context, cancellationToken) : endings.RunAsync(steps, context, cancellationToken);

    private async ValueTask FollowAsync(MessageFollower follower, MessageContext context, CancellationToken cancellationToken)
    {
        context.Follower = follower;
        follower.Enter(model);
        try
        {
            await RunSteps(context, cancellationToken);
        }
        catch (Exception ex)
        {
            follower.Complete(context, ex);
            throw;
        }
        finally
        {
            context.Follower = null;
        }

        follower.Complete(context, failure: null);
    }
}
