using System.CommandLine;
using System.CommandLine.Help;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Host.Commands.Audit;
using Esb.Host.Commands.Configuration;
using Esb.Host.Commands.DeadLetters;
using Esb.Host.Commands.Documents;
using Esb.Host.Commands.Endpoints;
using Esb.Host.Commands.Itineraries;
using Esb.Host.Commands.Logging;
using Esb.Host.Commands.Messages;
using Esb.Host.Commands.Parking;
using Esb.Host.Commands.Replays;
using Esb.Host.Commands.Stores;
using Esb.Host.Commands.Tracing;
using Esb.Host.Commands.Versions;
using Esb.Host.Commands.Workflows;
using Esb.Host.Logging;

namespace Esb.Host.Commands;

/// <summary>The command line: finds and runs the command, and converts any failure into a line of text and an exit code.</summary>
internal static class EsbCommandLine
{
    // How long a command may take to end what it began on a host.
    private static readonly TimeSpan Farewell = TimeSpan.FromSeconds(5);

    public static async Task<int> InvokeAsync(IReadOnlyList<string> arguments, CommandContext context)
    {
        var result = Commands(context)
            .Parse(arguments.Count == 0 ? ["--help"] : arguments, new ParserConfiguration { ResponseFileTokenReplacer = null });
        var invocation = new InvocationConfiguration
        {
            Output = context.Output,
            Error = context.Error,
            EnableDefaultExceptionHandler = false,
            ProcessTerminationTimeout = result.CommandResult.Command is RunCommand ? null : Farewell, // a bus stops by itself
        };
        if (result.Errors.Count > 0)
            return UsageErrors.Report(result, context.Error);
        try
        {
            return await result.InvokeAsync(invocation);
        }
        catch (OperationCanceledException)
        {
            return ExitCode.Interrupted;
        }
        catch (ConfigurationRefusedException ex)
        {
            Report(context, ex.Message);
            return ExitCode.Configuration;
        }
        catch (CommandException ex)
        {
            Report(context, $"{ex.Code} {ex.Message}");
            return ex.ExitCode;
        }
        catch (EsbException ex)
        {
            Report(context, $"{ex.Code} {ex.Message}{(ex.InnerException is { } inner ? $" {inner.Message}" : "")}");
            return ex.IsTransient ? ExitCode.Unreachable : ExitCode.Configuration;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            Report(context, $"ESB-CLI-FILE {ex.Message}"); // a file or folder that the configuration names
            return ExitCode.Configuration;
        }
    }

    // Why a service did not start is an error of the journal.
    private static void Report(CommandContext context, string text) =>
        context.Error.WriteLine(
            JournalLines.IsTarget(context.Variables, descriptor: 2) ? JournalLines.Prefixed(JournalLines.Error, text) : text
        );

    /// <summary>All commands, for parsing without running one.</summary>
    internal static RootCommand Commands(CommandContext context)
    {
        var commands = All(context);
        foreach (var help in commands.Options.OfType<HelpOption>())
            help.Action = new HelpAction { MaxWidth = context.Width };
        return commands;
    }

    private static RootCommand All(CommandContext context) =>
        new("An enterprise service bus. Start with 'esb new FOLDER', or with 'esb run' for the orders sample.")
        {
            new NewCommand(context),
            new RunCommand(context),
            new ValidateCommand(context),
            new ExplainCommand(context),
            new SchemaCommand(context),
            new DocsCommand(context),
            new TransformCommand(context),
            new ConvertCommand(context),
            new ReloadCommand(context),
            new VersionsCommand(context),
            new ApplyCommand(context),
            new RollbackCommand(context),
            new SendCommand(context),
            new AuditCommand(context),
            new EndpointsCommand(context),
            new MetricsCommand(context),
            new LogCommand(context),
            new TraceCommand(context),
            new PlanCommand(context),
            new DeadLettersCommand(context),
            new ReplaysCommand(context),
            new ParkedCommand(context),
            new UnroutableCommand(context),
            new StoreCommand(context),
            new WorkflowsCommand(context),
            new ItinerariesCommand(context),
            new SecretOption("--key"),
            new SecretOption("--password"),
            new SecretOption("--token"),
        };
}
