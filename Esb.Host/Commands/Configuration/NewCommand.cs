using System.CommandLine;
using System.Text.RegularExpressions;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb new FOLDER [--sample NAME]</c></summary>
internal sealed partial class NewCommand : Command
{
    private const string Starter = "starter";
    private const string SchemaFile = "esb.schema.json";
    private const int MaxName = 40;

    // Written by running samples, or not usable without the source.
    private static readonly string[] LeftOut = ["data", "esb-data", "plugin"];

    private readonly Argument<string> _folder = new("folder") { Description = "The folder to create; one that exists must be empty." };
    private readonly Option<string> _sample = new("--sample")
    {
        Description = $"The sample to begin with. One of {string.Join(", ", Samples())}.",
        HelpName = "name",
        DefaultValueFactory = _ => Starter,
    };

    public NewCommand(CommandContext context)
        : base("new", "Writes a configuration to begin with.")
    {
        Add(_folder);
        Add(_sample);
        _sample.Validators.Add(result =>
        {
            var name = result.GetValueOrDefault<string>();
            if (!Samples().Contains(name))
                result.AddError($"--sample: expected one of {string.Join(", ", Samples())}{NearestName.Hint(name, Samples())}");
        });
        SetAction(
            (result, cancellationToken) =>
                WriteAsync(result.GetRequiredValue(_folder), result.GetRequiredValue(_sample), context, cancellationToken)
        );
    }

    private static string SampleFolder => Path.Combine(AppContext.BaseDirectory, "samples");

    private static string[] Samples() =>
        Directory.Exists(SampleFolder)
            ?
            [
                .. Directory
                    .GetDirectories(SampleFolder)
                    .Select(folder => Path.GetFileName(folder)!)
                    .Except(LeftOut)
                    .Order(StringComparer.Ordinal),
            ]
            : [];

    private static async Task<int> WriteAsync(string folder, string sample, CommandContext context, CancellationToken cancellationToken)
    {
        if (File.Exists(folder) || (Directory.Exists(folder) && Directory.EnumerateFileSystemEntries(folder).Any()))
            throw new CommandException(
                ExitCode.Usage,
                "ESB-CLI-EXISTS",
                $"{folder} exists and is not an empty folder; nothing was written."
            );
        try
        {
            Directory.CreateDirectory(folder);
            Copy(Path.Combine(SampleFolder, sample), folder);
            await AdaptAsync(Path.Combine(folder, "esb.json"), NameOf(folder), cancellationToken);
            var schema = SchemaWriter.Write(SettingsCatalog.From(context.Services()));
            await File.WriteAllTextAsync(Path.Combine(folder, SchemaFile), schema.ToJsonString(JsonStyle.Indented), cancellationToken);
            await AddReadmeAsync(Path.Combine(folder, "README.md"), sample, cancellationToken);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new CommandException(ExitCode.Failed, "ESB-CLI-FILE", $"{folder} cannot be written: {ex.Message}");
        }

        context.Output.WriteLine(
            $"{Path.Combine(folder, "esb.json")} is ready: run it with 'esb run {folder}'. {Path.Combine(folder, "README.md")} says "
                + $"what to do next."
        );
        return ExitCode.Done;
    }

    private static void Copy(string from, string to)
    {
        foreach (var file in Directory.GetFiles(from))
            File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        foreach (var folder in Directory.GetDirectories(from).Where(folder => !LeftOut.Contains(Path.GetFileName(folder))))
            Copy(folder, Directory.CreateDirectory(Path.Combine(to, Path.GetFileName(folder))).FullName);
    }

    // As text, so that comments and layout stay.
    private static async Task AdaptAsync(string file, string name, CancellationToken cancellationToken)
    {
        var text = await File.ReadAllTextAsync(file, cancellationToken);
        text = OwnName().Replace(text, $"{{\n  \"$$schema\": \"./{SchemaFile}\",${{comment}}\n  \"name\": \"{name}\"", count: 1);
        await File.WriteAllTextAsync(file, text, cancellationToken);
    }

    // The name is in the names of queues: two configurations on one broker must not share it.
    private static string NameOf(string folder)
    {
        var name = NotInNames()
            .Replace(Path.GetFileName(Path.GetFullPath(folder).TrimEnd(Path.DirectorySeparatorChar)).ToLowerInvariant(), "-")
            .Trim('-');
        if (name.Length == 0)
            return Starter;
        return name.Length > MaxName ? name[..MaxName] : name;
    }

    private static async Task AddReadmeAsync(string file, string sample, CancellationToken cancellationToken)
    {
        if (File.Exists(file))
            return;
        var text = $"""
            # {sample}

            Run it with `esb run .` in this folder; the first lines of the log say where to send messages and where to look.
            Next: change `esb.json` (an editor that reads `{SchemaFile}` completes it), check it with `esb validate .`,
            and put it into service with `esb reload`.

            """;
        await File.WriteAllTextAsync(file, text, cancellationToken);
    }

    [GeneratedRegex("""\A\s*\{(?<comment>(\s*//[^\n]*)*)\s*"name":\s*"[^"]*" """, RegexOptions.IgnorePatternWhitespace)]
    private static partial Regex OwnName();

    [GeneratedRegex("[^a-z0-9-]+")]
    private static partial Regex NotInNames();
}
