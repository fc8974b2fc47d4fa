using System.CommandLine;
using Esb.Host.Reloading;
using Esb.Host.Versions;

namespace Esb.Host.Commands.Versions;

/// <summary><c>esb rollback N [--reason TEXT] [--migrate] [--force]</c></summary>
internal sealed class RollbackCommand : Command
{
    private readonly Argument<long> _number = VersionsCommand.Number("number", "The number of the version.");
    private readonly ExchangeOptions _options;
    private readonly HostOptions _host;

    public RollbackCommand(CommandContext context)
        : base("rollback", "Puts an earlier version of the configuration into service again on every host, or on none, while they work.")
    {
        Add(_number);
        _options = new ExchangeOptions(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => RollBackAsync(result, context, cancellationToken));
    }

    private async Task<int> RollBackAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var done = await client.PostAsync<ReloadResult>(
            "api/configuration/rollback",
            new RolledBack
            {
                Number = result.GetRequiredValue(_number),
                Reason = _options.Reason(result),
                Migrate = _options.Migrate(result),
                Force = _options.Force(result),
            },
            cancellationToken
        );
        await ExchangeOptions.WriteAsync(done, context.Output);
        return ExitCode.Done;
    }
}
