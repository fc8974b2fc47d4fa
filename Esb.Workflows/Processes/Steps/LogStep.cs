using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>How much a line of the log matters.</summary>
internal enum LogStepLevel
{
    Trace,
    Debug,
    Information,
    Warning,
    Error,
}

/// <summary>Settings of the step <c>log</c>.</summary>
internal sealed record LogConfig : SettingsRecord
{
    [Setting("The line, a text with places for values.", Main = true)]
    public required string Message { get; init; }

    [Setting("The level of the line.")]
    public LogStepLevel Level { get; init; } = LogStepLevel.Information;
}

/// <summary>Writes a line to the log; the text is made only where the level is on.</summary>
internal sealed partial class LogStep(ILogger<LogStep> logger) : StepFactory<LogConfig>
{
    public override string Kind => "log";

    protected override CompiledStep? Compile(LogConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (compiler.Expressions.CompileTemplate(settings.Message, step.Path, step.Origin, compiler.Errors) is not { } template) return null;
        var level = Enum.Parse<LogLevel>(settings.Level.ToString());
        var process = compiler.Process;
        return new CompiledStep(Run, "log");

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            if (logger.IsEnabled(level))
            {
                var line = MessageValues.AsText(template.Evaluate(context));
                LogLine(level, process, context.Endpoint, line);
            }

            return ValueTask.CompletedTask;
        }
    }

    [LoggerMessage(EventId = 3001, Message = "{Process} at {Endpoint}: {Line}")]
    private partial void LogLine(LogLevel level, string process, string endpoint, string? line);
}
