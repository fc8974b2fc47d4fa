using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>Records a successful step for messages whose steps are audited.</summary>
internal sealed class StepTrace
{
    private readonly string _place;
    private readonly string? _calls;
    private readonly bool _transforms;

    private StepTrace(StepModel step)
    {
        _place = step.Place;
        _calls = step.Traits.Calls is [var endpoint] ? endpoint : null;
        _transforms = step.Traits.Transforms;
    }

    /// <summary>The trace of a step; null if the step or its inner steps record facts of their own.</summary>
    public static StepTrace? Of(StepModel step) => step.Lists.Count > 0 || step.Traits.LeavesFacts ? null : new StepTrace(step);

    public async ValueTask RunAsync(MessageStep run, StepLog log, MessageContext context, CancellationToken cancellationToken)
    {
        var found = context.Message;
        if (_transforms)
            log.Transforming(context, _place);
        var began = log.Begin();
        await run(context, cancellationToken);

        // A call in a transaction may still be rolled back.
        if (_calls is not null && context.UnitOfWork is null)
            log.Called(context, _place, _calls, found, began);
        else if (_transforms)
            log.Transformed(context, _place, began);
        else
            log.Ended(context, _place, began);
    }
}
