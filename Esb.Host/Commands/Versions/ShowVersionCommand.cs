using System.CommandLine;
using Esb.Core.Storage;
using Esb.Host.Versions;

namespace Esb.Host.Commands.Versions;

/// <summary><c>esb versions show N [--to FOLDER]</c></summary>
internal sealed class ShowVersionCommand : Command
{
    private readonly Argument<long> _number = VersionsCommand.Number("number", "The number of the version.");
    private readonly Option<string?> _to = new("--to") { Description = "A new folder for its files and maps, to change and apply them." };
    private readonly HostOptions _host;

    public ShowVersionCommand(CommandContext context)
        : base("show", "Shows a version with its files, or writes them into a folder.")
    {
        Add(_number);
        Add(_to);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var shown = await client.GetAsync<VersionDetail>(
            $"api/configuration/versions/{result.GetRequiredValue(_number)}",
            cancellationToken
        );
        if (result.GetValue(_to) is { } folder)
            await WriteAsync(shown, folder, context, cancellationToken);
        else
            Write(shown, context.Output);
        return ExitCode.Done;
    }

    private static async Task WriteAsync(VersionDetail shown, string folder, CommandContext context, CancellationToken cancellationToken)
    {
        if (Directory.Exists(folder) && Directory.EnumerateFileSystemEntries(folder).Any())
            throw new CommandException(ExitCode.Usage, "ESB-CLI-FILE", $"{folder} is not empty.");
        await ContentFolder.WriteAsync(
            new ConfigurationContent { Files = shown.Files, Contents = shown.Contents },
            folder,
            cancellationToken
        );
        BaseFile.Write(folder, shown.Version.Number);
        await context.Output.WriteLineAsync($"Version {shown.Version.Number} is in {folder}. Change it, then: esb apply {folder}");
    }

    private static void Write(VersionDetail shown, TextWriter output)
    {
        var version = shown.Version;
        output.WriteLine($"version {version.Number}, revision {version.Revision}{(version.IsInService ? ", in service" : "")}");
        output.WriteLine(
            $"{version.Kind} by {version.By} at {version.At:yyyy-MM-dd HH:mm:sszzz}{(version.Reason is { } reason ? $": {reason}" : "")}"
        );
        foreach (var line in version.Changes)
            output.WriteLine($"  {line}");
        foreach (var (name, text) in shown.Files)
            output.WriteLine($"\n--- {name}\n{text.TrimEnd()}");
        foreach (var (name, bytes) in shown.Contents)
            output.WriteLine($"\n--- {name}, {bytes.Length} bytes");
    }
}
