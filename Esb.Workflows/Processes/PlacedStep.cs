using System.Runtime.CompilerServices;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;

namespace Esb.Workflows.Processes;

/// <summary>A step that records its location when it fails.</summary>
/// <param name="run">The step.</param>
/// <param name="place">The id or the location of the step.</param>
/// <param name="kind">The kind of the step.</param>
/// <param name="trace">The trace of a successful run; null if the step is not traced.</param>
internal sealed class PlacedStep(MessageStep run, string place, string kind, StepTrace? trace)
{
    /// <summary>Runs the step. Avoids <c>await</c>, so that a step that completes synchronously costs no state machine.</summary>
    public ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        try
        {
            var running = Start(context, cancellationToken);
            return running.IsCompletedSuccessfully ? running : WatchAsync(running, context);
        }
        catch (Exception ex) when (Note(ex, context) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Runs steps one after the other until one ends the process.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public static async ValueTask RunAllAsync(PlacedStep[] steps, MessageContext context, CancellationToken cancellationToken)
    {
        foreach (var step in steps)
        {
            try
            {
                await step.Start(context, cancellationToken);
            }
            catch (Exception ex) when (step.Note(ex, context) is { } fault)
            {
                throw fault;
            }

            if (context.Outcome != ProcessOutcome.Running)
                return;
        }
    }

    private ValueTask Start(MessageContext context, CancellationToken cancellationToken) =>
        context.Follower is { } follower ? FollowAsync(follower, context, cancellationToken) : RunStep(context, cancellationToken);

    private async ValueTask FollowAsync(MessageFollower follower, MessageContext context, CancellationToken cancellationToken)
    {
        var step = follower.Begin(context, place, kind);
        try
        {
            await RunStep(context, cancellationToken);
        }
        catch (Exception ex)
        {
            follower.End(step, context, ex);
            throw;
        }

        follower.End(step, context, failure: null);
    }

    private ValueTask RunStep(MessageContext context, CancellationToken cancellationToken) =>
        trace is not null && context.Steps is { } log
            ? trace.RunAsync(run, log, context, cancellationToken)
            : run(context, cancellationToken);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WatchAsync(ValueTask running, MessageContext context)
    {
        try
        {
            await running;
        }
        catch (Exception ex) when (Note(ex, context) is { } fault)
        {
            throw fault;
        }
    }

    // Usually null: the failure propagates unchanged. A failed inner step has recorded its location first.
    private EsbException? Note(Exception failure, MessageContext context)
    {
        if (context.FailedStep is null)
            MaskedFlow.Keep();
        context.FailedStep ??= place;
        return MadeBodyFault.Of(failure, context, place);
    }
}
