using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>A branch for failures.</summary>
internal sealed record CatchConfig : SettingsRecord
{
    [Setting("The codes that it catches; a * at the end stands for any rest. Without codes it catches every failure.")]
    public IReadOnlyList<string> Codes { get; init; } = [];

    [Setting(
        "The steps that run; they find the failure as the properties error.code and error.reason, and an answer that was one as "
            + "error.status and error.body."
    )]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

/// <summary>Settings of the step <c>try</c>.</summary>
internal sealed record TryConfig : SettingsRecord
{
    [Setting("The steps to try.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }

    [Setting("The branches for failures; the first that catches the code runs.")]
    public IReadOnlyList<CatchConfig> Catch { get; init; } = [];

    [Setting("The steps that run at the end, whatever happened; where the time of the process is over they have 2 s of their own.")]
    public IReadOnlyList<StepConfig> Finally { get; init; } = [];
}

/// <summary>Runs steps, and a handler if they fail. The handler receives the message as it was at the start of the failed step.</summary>
internal sealed partial class TryStep : StepFactory<TryConfig>
{
    public override string Kind => "try";

    protected override StepModel Compile(TryConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var steps = compiler.Compile(settings.Steps);
        var branches = settings.Catch.Select(branch => (branch.Codes, Steps: compiler.Compile(branch.Steps))).ToArray();
        var last = compiler.Compile(settings.Finally);
        return new StepModel(step, $"try({steps.Description})")
        {
            Traits = new StepTraits
            {
                IsTry = true,
                Catches = [.. settings.Catch.Select(branch => new CaughtCodes(branch, "codes", branch.Codes))],
            },
            Flow = settings.Finally.Count > 0 ? null : new TryFlow(steps, [.. branches]),
            Lists = [steps, .. branches.Select(branch => branch.Steps), last],
            Bind = services =>
                Run(
                    steps.Bind(services),
                    [.. branches.Select(branch => new Handler(branch.Codes, branch.Steps.Bind(services)))],
                    new LastSteps(last.Bind(services), services)
                ),
        };

        static MessageStep Run(MessageStep steps, Handler[] handlers, LastSteps last) =>
            async (context, cancellationToken) =>
            {
                try
                {
                    await RunCaughtAsync(context, steps, handlers, cancellationToken);
                }
                finally
                {
                    await last.RunAsync(context, cancellationToken);
                }
            };
    }

    private static async ValueTask RunCaughtAsync(
        MessageContext context,
        MessageStep steps,
        Handler[] handlers,
        CancellationToken cancellationToken
    )
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
            context.SetProperty("error.status", failure.CallAnswer is { } answer ? (double)answer.Status : null);
            context.SetProperty("error.body", failure.CallAnswer?.Body);
            foreach (var (name, value) in failure.Properties)
                context.SetProperty(name, value);
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

    /// <summary>The final steps, which also run after an end of the process, a failure or a time-out.</summary>
    private sealed partial class LastSteps(MessageStep run, IServiceProvider services)
    {
        // For cleanup after a time-out; shorter than the time that a stopping host waits.
        private static readonly TimeSpan OwnTime = TimeSpan.FromSeconds(2);

        private readonly TimeProvider _time = services.GetRequiredService<TimeProvider>();
        private readonly ILogger _logger = services.GetRequiredService<ILogger<TryStep>>();

        public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
        {
            var (outcome, failed) = (context.Outcome, context.FailedStep);
            (context.Outcome, context.FailedStep) = (ProcessOutcome.Running, null);
            if (cancellationToken.IsCancellationRequested)
                await RunLateAsync(context);
            else
                await run(context, cancellationToken);
            if (context.Outcome == ProcessOutcome.Running)
                context.Outcome = outcome;
            context.FailedStep = failed;
        }

        // The process has failed by time-out or cancellation, whatever the result of the final steps.
        private async ValueTask RunLateAsync(MessageContext context)
        {
            using var own = new CancellationTokenSource(OwnTime, _time);
            try
            {
                await run(context, own.Token);
            }
            catch (Exception ex)
            {
                LogFailed(ex, context.Received.Id, context.Process);
            }
        }

        [LoggerMessage(
            EventId = 3002,
            Level = LogLevel.Warning,
            Message = "The final steps for message {MessageId} in {Process}, after its time-out, failed"
        )]
        private partial void LogFailed(Exception exception, Guid messageId, string process);
    }
}
