using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary>The option <c>--json</c> of a command that lists something, and the output in either form.</summary>
internal sealed class ListOutput
{
    private readonly Option<bool> _json = new("--json") { Description = "Writes JSON, with all there is, in place of columns." };

    public ListOutput(Command command) => command.Add(_json);

    /// <summary>Writes the values as JSON if that is wanted; returns false if columns are.</summary>
    public bool TryWrite<T>(ParseResult result, CommandContext context, T values)
    {
        if (!result.GetValue(_json))
            return false;
        context.Output.WriteLine(CommandJson.Write(values));
        return true;
    }
}
