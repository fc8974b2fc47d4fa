using Esb.Configuration.Compiling;
using Esb.Configuration.Reading;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration;

/// <summary>Reads and checks a whole configuration: files, the overlay of an environment, environment variables and references.</summary>
/// <remarks>Order of precedence, the later one wins: defaults, the files, <c>environments/NAME.json</c>, variables <c>ESB__…</c>.</remarks>
public sealed class ConfigurationReader(SettingsCatalog catalog)
{
    /// <summary>The sections that a host always takes from its own files: those it needs before it can reach the store with the versions
    /// of the others.</summary>
    public static readonly IReadOnlyList<string> BootstrapSections = ["name", "transport", "store", "management"];

    /// <summary>Reads and checks; the result is null when anything is wrong, and the errors then say all that is.</summary>
    /// <inheritdoc cref="ReadDraft"/>
    public EsbConfiguration? Read(string path, IReadOnlyDictionary<string, string> variables, ConfigErrors errors)
    {
        var draft = ReadDraft(path, variables, errors);
        return errors.Any ? null : draft;
    }

    /// <summary>Reads all readable parts, so that each can be checked despite errors in others; null only if a file cannot be read at
    /// all.</summary>
    /// <remarks>
    /// After an error a property holds its default or a stand-in, and unreadable named things are omitted.
    /// <see cref="SettingsRecord.IsSound"/>, <see cref="SettingsRecord.IsWhole"/> and <see cref="EsbConfiguration.Unread"/> indicate such
    /// parts. A draft must not be started.
    /// </remarks>
    /// <param name="path">A file, or a folder whose <c>esb.json</c> and <c>*.esb.json</c> are merged.</param>
    /// <param name="variables">The environment variables.</param>
    /// <param name="errors">Receives every error.</param>
    /// <param name="place">The meaning of its relative paths; null for the folder of each file.</param>
    public EsbConfiguration? ReadDraft(
        string path,
        IReadOnlyDictionary<string, string> variables,
        ConfigErrors errors,
        ConfigPlace? place = null
    )
    {
        variables.TryGetValue("ESB_ENVIRONMENT", out var environment);
        var root = new RootType(catalog);
        environment = string.IsNullOrEmpty(environment) ? null : environment;
        var files = new ConfigFiles(catalog, root, errors, place).Read(path, environment);
        if (files is not null && place?.Bootstrap is { } bootstrap)
            files = Replace(files, new ConfigFiles(catalog, root, errors, place: null).Read(bootstrap, environment));
        if (files is null)
            return null;

        var written = root.WithDefaults(files);
        var whole = new EnvironmentOverlay(catalog, root, errors).Apply(written, variables);
        whole = new ConfigReferences(variables, errors).Resolve(whole);

        var reader = new SettingsReader(catalog, errors);
        var sections = root.Read(whole, reader);
        reader.CheckReferences(whole);
        return new EsbConfiguration(whole, sections, reader.Damaged, reader.Values, Fingerprint.Of(written)) { Variables = variables };
    }

    private static ConfigNode? Replace(ConfigNode files, ConfigNode? host)
    {
        if (host is null)
            return null;
        return files with
        {
            Members =
            [
                .. files.Members.Where(member => !BootstrapSections.Contains(member.Name)),
                .. host.Members.Where(member => BootstrapSections.Contains(member.Name)),
            ],
        };
    }
}
