using System.CommandLine;

namespace Esb.Host.Commands.Endpoints;

/// <summary><c>esb endpoints reset NAME [SETTING]</c>: makes a tuned setting of an endpoint, or all of them, what the configuration
/// says.</summary>
internal sealed class EndpointsResetCommand : Command
{
    private readonly Argument<string> _name = new("name") { Description = "An endpoint." };
    private readonly Argument<string?> _setting = new("setting")
    {
        Description = "A setting, such as poolSize; by default all.",
        Arity = ArgumentArity.ZeroOrOne,
    };
    private readonly HostOptions _host;

    public EndpointsResetCommand(CommandContext context)
        : base("reset", "Resets a tuned setting of an endpoint, or all of them, to the configuration, on every host of the farm.")
    {
        Add(_name);
        Add(_setting);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ResetAsync(result, context, cancellationToken));
    }

    private async Task<int> ResetAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var (name, setting) = (result.GetRequiredValue(_name), result.GetValue(_setting));
        var reset = await client.ResetAsync(name, setting, cancellationToken);
        await context.Output.WriteLineAsync($"{setting ?? "everything"} of {name} is as configured on {string.Join(", ", reset.Hosts)}");
        return ExitCode.Done;
    }
}
