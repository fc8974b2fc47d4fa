using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>A branch for failures.</summary>
internal sealed record CatchConfig : SettingsRecord
{
    [Setting("The codes that it catches; a * at the end stands for any rest. Without codes it catches every failure.")]
    public IReadOnlyList<string> Codes { get; init; } = [];

    [Setting("The steps that run; they find the failure as the properties error.code and error.reason.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

/// <summary>Settings of the step <c>try</c>.</summary>
internal sealed record TryConfig : SettingsRecord, IHoldsSteps
{
    [Setting("The steps to try.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }

    [Setting("The branches for failures; the first that catches the code runs.")]
    public IReadOnlyList<CatchConfig> Catch { get; init; } = [];

    [Setting("The steps that run at the end, whatever happened; where the time of the process is over they have 2 s of their own.")]
    public IReadOnlyList<StepConfig> Finally { get; init; } = [];

    public IEnumerable<IReadOnlyList<StepConfig>> Lists => [Steps, .. Catch.Select(branch => branch.Steps), Finally];
}

/// <summary>Runs steps, and others when they fail. The caught message goes on as it was when the failing step began.</summary>
internal sealed partial class TryStep(TimeProvider time, ILogger<TryStep> logger) : StepFactory<TryConfig>
{
    // For what has to be tidied up although the time is over: shorter than what a host that stops waits for.
    private static readonly TimeSpan LastTime = TimeSpan.FromSeconds(2);

    public override string Kind => "try";

    protected override CompiledStep? Compile(TryConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var steps = compiler.Compile(settings.Steps);
        var branches = settings.Catch.Select(branch => (branch.Codes, Steps: compiler.Compile(branch.Steps))).ToArray();
        var last = compiler.Compile(settings.Finally);
        if (steps is null || last is null || branches.Any(branch => branch.Steps is null)) return null;

        var handlers = branches.Select(branch => new Handler(branch.Codes, branch.Steps!.Run)).ToArray();
        return new CompiledStep(Run, $"try({steps.Description})");

        async ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            try
            {
                await RunCaughtAsync(context, steps.Run, handlers, cancellationToken);
            }
            finally
            {
                await RunLastAsync(context, last.Run, cancellationToken);
            }
        }
    }

    // Also when the steps before ended the process, or failed, or took all the time.
    private async ValueTask RunLastAsync(MessageContext context, MessageStep last, CancellationToken cancellationToken)
    {
        var (outcome, failed) = (context.Outcome, context.FailedStep);
        (context.Outcome, context.FailedStep) = (ProcessOutcome.Running, null);
        if (cancellationToken.IsCancellationRequested) await RunLateAsync(context, last);
        else await last(context, cancellationToken);
        if (context.Outcome == ProcessOutcome.Running) context.Outcome = outcome;
        context.FailedStep = failed;
    }

    // The process has failed by its time, or by who called it, whatever becomes of the last steps.
    private async ValueTask RunLateAsync(MessageContext context, MessageStep last)
    {
        using var own = new CancellationTokenSource(LastTime, time);
        try
        {
            await last(context, own.Token);
        }
        catch (Exception ex)
        {
            LogLastFailed(ex, context.Received.Id, context.Process);
        }
    }

    [LoggerMessage(EventId = 3002, Level = LogLevel.Warning, Message = "The last steps for message {MessageId} in {Process}, whose time was over, failed")]
    private partial void LogLastFailed(Exception exception, Guid messageId, string process);

    private static async ValueTask RunCaughtAsync(MessageContext context, MessageStep steps, Handler[] handlers, CancellationToken cancellationToken)
    {
        Handler handler;
        try
        {
            await steps(context, cancellationToken);
            return;
        }
        catch (EsbException failure) when (Array.Find(handlers, candidate => candidate.Catches(failure.Code)) is { } found)
        {
            context.SetProperty("error.code", failure.Code);
            context.SetProperty("error.reason", failure.Message);
            context.Steps?.Caught(context, failure);
            context.FailedStep = null;
            handler = found;
        }

        await handler.Steps(context, cancellationToken);
    }

    private sealed record Handler(IReadOnlyList<string> Codes, MessageStep Steps)
    {
        public bool Catches(string code) => Codes.Count == 0 || Codes.Any(pattern => CodePattern.Matches(pattern, code));
    }
}
