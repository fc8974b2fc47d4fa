using Esb.Content.Transforms;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes;

/// <summary>Warns of steps that read another kind of document than the map before them makes, such as JSON where that makes HTML.</summary>
internal sealed class MapOutputCheck(EsbConfiguration configuration, IMapCatalog maps) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        foreach (var steps in configuration.Named<IReadOnlyList<StepConfig>>("processes").Values) Follow(steps, made: null, errors);
    }

    // The result is the map that made the body behind the steps; null where that is not known.
    private IMessageMap? Follow(IReadOnlyList<StepConfig> steps, IMessageMap? made, ConfigErrors errors)
    {
        foreach (var step in steps)
        {
            if (made is not null) Compare(step.Settings, made, errors);
            made = step.Settings switch
            {
                TransformConfig transform => maps.Find(transform.Map),
                CallConfig or RequestConfig or RunConfig or RespondConfig => null,
                TryConfig attempt => FollowTry(attempt, made, errors),
                IHoldsSteps holder => Common(made, holder.Lists.Select(list => Follow(list, made, errors))),
                _ => made,
            };
        }

        return made;
    }

    // Where in the first list a failure comes, nobody knows.
    private IMessageMap? FollowTry(TryConfig attempt, IMessageMap? made, ConfigErrors errors)
    {
        var tried = Follow(attempt.Steps, made, errors);
        return Common(made, attempt.Lists.Skip(1).Select(list => Follow(list, tried == made ? made : null, errors)).Append(tried));
    }

    private static IMessageMap? Common(IMessageMap? made, IEnumerable<IMessageMap?> ways) => ways.ToList().TrueForAll(way => way == made) ? made : null;

    private static void Compare(object settings, IMessageMap made, ConfigErrors errors)
    {
        if (settings is ValidateConfig validate) Compare(validate, "schema", MadeKind.Xml, made, errors);
        if (settings is TransformConfig transform) Compare(transform, "map", MadeKind.Xml, made, errors);
        if (settings is not ITakesValues taking) return;
        foreach (var value in taking.Values)
        {
            if (value.Xpath is not null) Compare((SettingsRecord)value, "xpath", MadeKind.Xml, made, errors);
            if (value.Jsonpath is not null) Compare((SettingsRecord)value, "jsonpath", MadeKind.Json, made, errors);
        }
    }

    private static void Compare(SettingsRecord settings, string property, MadeKind read, IMessageMap made, ConfigErrors errors)
    {
        if (made.Makes == read) return;
        var hint = made.Makes == MadeKind.Text ? $"; where that is {MadeBodyFault.NameOf(read)}, name it by the media-type of xsl:output" : "";
        errors.Warn(
            MadeBodyFault.Code, settings, property,
            $"reads {MadeBodyFault.NameOf(read)}, and the map {made.Name} before it makes {MadeBodyFault.NameOf(made.Makes)}: a message fails with {MadeBodyFault.Code} where that cannot be read{hint}");
    }
}
