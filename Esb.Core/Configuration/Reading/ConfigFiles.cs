namespace Esb.Core.Configuration.Reading;

/// <summary>Finds the files of a configuration and merges them: one file, or the <c>*.json</c> of a folder, and the overlay of an environment.</summary>
internal sealed class ConfigFiles(ConfigErrors errors)
{
    /// <summary>The merged tree, or null when there is nothing to read; then an error says why.</summary>
    /// <param name="path">A file or a folder.</param>
    /// <param name="environment">The name of an environment, whose file is laid over; null for none.</param>
    public ConfigNode? Read(string path, string? environment)
    {
        var folder = Directory.Exists(path) ? path : Path.GetDirectoryName(Path.GetFullPath(path))!;
        var files = Directory.Exists(path) ? Directory.GetFiles(path, "*.json").Order(StringComparer.Ordinal).ToArray() : [path];
        if (files.Length == 0 || !files.All(File.Exists))
        {
            var start = Directory.GetCurrentDirectory();
            errors.Add("ESB-CFG-NOTFOUND", path, $"no such configuration; looked for {Path.GetFullPath(path)} from {start}");
            return null;
        }

        var root = files.Select(ReadFile).OfType<ConfigNode>().Aggregate((ConfigNode?)null, (merged, file) => merged is null ? file : Join(merged, file));
        return root is null || environment is null ? root : LayOver(root, Path.Combine(folder, "environments", $"{environment}.json"), environment);
    }

    private ConfigNode? ReadFile(string path)
    {
        if (new FileInfo(path).Length > ConfigText.MaxBytes)
        {
            errors.Add("ESB-CFG-TOOBIG", path, $"expected at most {new ByteSize(ConfigText.MaxBytes)}");
            return null;
        }

        var source = Path.GetRelativePath(Directory.GetCurrentDirectory(), path);
        var text = new ConfigText(source, Path.GetDirectoryName(Path.GetFullPath(path))!, File.ReadAllBytes(path));
        if (new ConfigJson(text, errors).Read() is not { } root) return null;
        if (root.Kind == ConfigKind.Object) return root;
        errors.Add("ESB-CFG-TYPE", source, "expected a JSON object", root.Origin);
        return null;
    }

    private ConfigNode LayOver(ConfigNode root, string path, string environment)
    {
        if (!File.Exists(path))
        {
            errors.Add("ESB-CFG-NOTFOUND", "ESB_ENVIRONMENT", $"is {environment}, but there is no {path}");
            return root;
        }

        return ReadFile(path) is { } overlay ? ConfigMerge.LayOver(root, overlay) : root;
    }

    /// <summary>Two files of a folder: sections join, but a name may stand in one of them only.</summary>
    private ConfigNode Join(ConfigNode left, ConfigNode right) => left with
    {
        Members = [.. right.Members.Aggregate(left.Members, (members, added) => JoinMember(members, added, depth: 0))],
    };

    private IReadOnlyList<ConfigMember> JoinMember(IReadOnlyList<ConfigMember> members, ConfigMember added, int depth)
    {
        if (members.FirstOrDefault(member => member.Name == added.Name) is not { } present) return [.. members, added];
        if (added.Name == "$schema") return members;
        if (depth > 0 || present.Value.Kind != ConfigKind.Object || added.Value.Kind != ConfigKind.Object)
        {
            errors.Add("ESB-CFG-DUPNAME", added.Value.Path, $"is given twice, at {present.Origin} and at {added.Origin}", added.Origin);
            return members;
        }

        var section = present.Value.Members;
        foreach (var named in added.Value.Members) section = [.. JoinMember(section, named, depth + 1)];
        return [.. members.Select(member => member == present ? present with { Value = present.Value with { Members = section } } : member)];
    }
}
