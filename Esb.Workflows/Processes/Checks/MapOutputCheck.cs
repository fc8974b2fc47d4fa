using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Warns of steps that read another document type than the preceding map produces, for example JSON instead of HTML.</summary>
internal sealed class MapOutputCheck(ConfigErrors errors)
{
    public void Check(ProcessModels processes)
    {
        foreach (var process in processes.All)
            Follow(process.Steps, made: null);
    }

    // Returns the map output that is the body after the steps; null if unknown.
    private MapOutput? Follow(StepListModel list, MapOutput? made)
    {
        foreach (var step in list.Steps)
        {
            if (made is not null)
                Compare(step.Traits, made);
            if (step.Traits.Divides)
                FollowParts(step.Lists);
            var behind =
                step.Traits.Divides ? made
                : step.Traits.IsTry ? FollowTry(step.Lists, made)
                : Common(made, step.Lists.Select(inner => Follow(inner, made)));
            made = step.Traits.ReplacesBody ? step.Traits.Makes : behind;
        }

        return made;
    }

    // What the parts are is unknown to the map.
    private void FollowParts(IReadOnlyList<StepListModel> lists)
    {
        foreach (var list in lists)
            Follow(list, made: null);
    }

    // The position of a failure in the first list is unknown.
    private MapOutput? FollowTry(IReadOnlyList<StepListModel> lists, MapOutput? made)
    {
        var tried = Follow(lists[0], made);
        return Common(made, lists.Skip(1).Select(list => Follow(list, tried == made ? made : null)).Append(tried));
    }

    private static MapOutput? Common(MapOutput? made, IEnumerable<MapOutput?> ways) =>
        ways.ToList().TrueForAll(way => way == made) ? made : null;

    private void Compare(StepTraits traits, MapOutput made)
    {
        if (traits.Reads is { } reading)
            Compare(reading.Settings, reading.Property, reading.Kind, made);
        foreach (var value in traits.Values)
        {
            if (value.Xpath is not null)
                Compare((SettingsRecord)value, "xpath", MadeKind.Xml, made);
            if (value.Jsonpath is not null)
                Compare((SettingsRecord)value, "jsonpath", MadeKind.Json, made);
        }
    }

    private void Compare(SettingsRecord settings, string property, MadeKind read, MapOutput made)
    {
        if (made.Kind == read)
            return;
        var (reads, makes) = (MadeBodyFault.NameOf(read), MadeBodyFault.NameOf(made.Kind));
        var hint = made.Kind == MadeKind.Text ? $"; where that is {reads}, name it by the media-type of xsl:output" : "";
        errors.Warn(
            MadeBodyFault.Code,
            settings,
            property,
            $"reads {reads}, and the map {made.Map} before it makes {makes}: a message fails with {MadeBodyFault.Code} where that "
                + $"cannot be read{hint}"
        );
    }
}
