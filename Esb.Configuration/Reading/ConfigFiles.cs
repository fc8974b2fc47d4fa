using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Finds the files of a configuration and merges them: one file, or <c>esb.json</c> and the <c>*.esb.json</c> of a folder, and the
/// overlay of an environment.</summary>
/// <param name="catalog">Every setting there is.</param>
/// <param name="root">The settings of the whole.</param>
/// <param name="errors">Receives every error.</param>
/// <param name="place">The meaning of relative paths; null for the folder of each file.</param>
internal sealed class ConfigFiles(SettingsCatalog catalog, SettingType root, ConfigErrors errors, ConfigPlace? place)
{
    /// <summary>Returns the merged tree; null if a file cannot be read, which is reported. A partial tree would only cause consequential
    /// errors.</summary>
    /// <param name="path">A file or a folder.</param>
    /// <param name="environment">The name of the environment whose file is laid over the tree; null for none.</param>
    public ConfigNode? Read(string path, string? environment)
    {
        var isStray = RefuseStrays(path);
        IReadOnlyList<string> files = File.Exists(path) ? [path] : ConfigFolder.FilesOf(path);
        if (files.Count == 0)
        {
            if (isStray)
                return null; // its file is there, under another name
            var looked = ConfigOrigin.Default.Locate(path);
            errors.Add(
                "ESB-CFG-NOTFOUND",
                path,
                $"there is no such file, and no folder with esb.json or NAME.esb.json; looked for {looked} from "
                    + $"{Directory.GetCurrentDirectory()}"
            );
            return null;
        }

        var roots = files.Select(file => ConfigFile.Read(file, errors, place)).ToList();
        var overlay = environment is null ? null : ReadOverlay(Path.Combine(FolderOf(path), "environments"), environment);
        if (roots.Contains(null) || (environment is not null && overlay is null))
            return null;
        var merged = roots.OfType<ConfigNode>().Aggregate(Join);
        return overlay is null ? merged : new ConfigMerge(catalog).LayOver(merged, overlay, root);
    }

    // A file that only looks like configuration must not be passed over. A name alone is in many other files.
    private bool RefuseStrays(string path)
    {
        var sections = catalog.Sections.Select(section => section.Name).Where(name => name != "name").ToHashSet();
        var found = false;
        foreach (var file in ConfigFolder.OthersOf(path))
        {
            if (ConfigFolder.FindSection(file, sections) is not { } section)
                continue;
            found = true;
            errors.Add(
                "ESB-CFG-FILENAME",
                file,
                $"has the section \"{section}\", but only esb.json and NAME.esb.json are configuration; rename it to "
                    + $"{Path.GetFileNameWithoutExtension(file)}.esb.json, or move it"
            );
        }

        return found;
    }

    private static string FolderOf(string path) => Directory.Exists(path) ? path : Path.GetDirectoryName(path)!;

    private ConfigNode? ReadOverlay(string environments, string environment)
    {
        // Only a name of a file in that folder, so that the variable cannot lead elsewhere.
        var files = Directory.Exists(environments) ? Directory.GetFiles(environments, "*.json") : [];
        var known = files.Select(file => Path.GetFileNameWithoutExtension(file)).Order(StringComparer.Ordinal).ToList();
        if (known.Contains(environment))
            return ConfigFile.Read(Path.Combine(environments, $"{environment}.json"), errors, place);
        errors.Add(
            "ESB-CFG-NOTFOUND",
            "ESB_ENVIRONMENT",
            $"is {Clipped.Name(environment)}, but {environments} has no such file{NearestName.Hint(environment, known)}"
        );
        return null;
    }

    /// <summary>Joins two files of a folder: sections are merged, but a name may occur in only one of them.</summary>
    private ConfigNode Join(ConfigNode left, ConfigNode right)
    {
        foreach (var section in right.Members)
        {
            var present = left.Members.FirstOrDefault(member => member.Name == section.Name);
            if (present is null)
                left = left with { Members = [.. left.Members, section] };
            else if (section.Name == RootType.SchemaKey)
                continue;
            else if (HoldsNames(present) && HoldsNames(section))
                left = ConfigMerge.With(left, section.Name, JoinSection(present.Value, section.Value));
            else
                RefuseTwice(present, section);
        }

        return left;
    }

    private static bool HoldsNames(ConfigMember section) => section.Value.Kind == ConfigKind.Object;

    private ConfigNode JoinSection(ConfigNode left, ConfigNode right)
    {
        var members = left.Members.ToDictionary(member => member.Name);
        foreach (var member in right.Members)
        {
            if (!members.TryAdd(member.Name, member))
                RefuseTwice(members[member.Name], member);
        }

        return left with
        {
            Members = [.. members.Values],
        };
    }

    private void RefuseTwice(ConfigMember first, ConfigMember second) =>
        errors.Add("ESB-CFG-DUPNAME", second.Value.Path, $"is given twice, at {first.Origin} and at {second.Origin}", second.Origin);
}
