using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>A step that leaves word where it stands when it fails.</summary>
/// <param name="run">The step.</param>
/// <param name="place">Its id, or where it stands.</param>
/// <param name="trace">What it leaves when it went well; null where that is nothing.</param>
internal sealed class PlacedStep(MessageStep run, string place, StepTrace? trace)
{
    /// <summary>Runs it. Written out rather than awaited: a step that is done at once costs no state machine.</summary>
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

    /// <summary>Runs steps one after the other, until one ends the process.</summary>
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

            if (context.Outcome != ProcessOutcome.Running) return;
        }
    }

    private ValueTask Start(MessageContext context, CancellationToken cancellationToken) =>
        trace is not null && context.Steps is { } log ? trace.RunAsync(run, log, context, cancellationToken) : run(context, cancellationToken);

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

    // Nearly always null: the failure goes on as it is. A step inside this one has said before that it failed.
    private EsbException? Note(Exception failure, MessageContext context)
    {
        if (context.FailedStep is null) MaskedFlow.Keep();
        context.FailedStep ??= place;
        return MadeBodyFault.Of(failure, context, place);
    }
}
