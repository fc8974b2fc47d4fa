using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>The severity of a log line.</summary>
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

/// <summary>Writes a log line; the text is formatted only if the level is enabled.</summary>
internal sealed partial class LogStep : StepFactory<LogConfig>
{
    public override string Kind => "log";

    protected override StepModel Compile(LogConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var template = compiler.Expressions.CompileTemplate(settings.Message, step.Path, step.Origin, compiler.Errors);
        var level = Enum.Parse<LogLevel>(settings.Level.ToString());
        var process = compiler.Process;
        return new StepModel(step, "log")
        {
            Traits = new StepTraits { Streams = template is not { ReadsBody: true } },
            Bind = template is null ? null : services => Run(services.GetRequiredService<ILogger<LogStep>>(), template),
        };

        MessageStep Run(ILogger logger, IMessageValue text) =>
            (context, _) =>
            {
                if (logger.IsEnabled(level))
                {
                    var line = MessageValues.AsText(text.Evaluate(context));
                    LogLine(logger, level, process, context.Endpoint, line);
                }

                return ValueTask.CompletedTask;
            };
    }

    [LoggerMessage(EventId = 3001, Message = "{Process} at {Endpoint}: {Line}")]
    private static partial void LogLine(ILogger logger, LogLevel level, string process, string endpoint, string? line);
}
