using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Configuration.Settings;

/// <summary>A stop of an itinerary: a step stands for a stop with that step alone.</summary>
internal sealed class StopType : SettingType
{
    private static readonly StepType Step = new();
    private static readonly RecordType Whole = RecordType.Of(typeof(StopConfig));

    public override VariableForm Form => VariableForm.Json;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (TypeOf(node) == Whole || node.Kind != ConfigKind.Object)
            return Whole.Read(node, reader);
        return Step.Read(node, reader) is StepConfig step
            ? new StopConfig
            {
                Path = node.Path,
                Origin = node.Origin,
                Id = step.Id,
                Note = step.Note,
                Steps = [step],
            }
            : null;
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        TypeOf(node).Find(node, part, catalog);

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => TypeOf(node).Keys(node, catalog);

    public override JsonObject Describe(SchemaWriter schema) =>
        new() { ["anyOf"] = new JsonArray(Whole.Describe(schema), Step.Describe(schema)) };

    private static SettingType TypeOf(ConfigNode node) =>
        node.Kind != ConfigKind.Object || node["steps"] is not null || node["durable"] is not null || node["compensate"] is not null
            ? Whole
            : Step;
}
