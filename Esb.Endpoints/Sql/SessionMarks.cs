using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Marks;

namespace Esb.Endpoints.Sql;

/// <summary>The sessions in use at all databases of the section <c>connections</c>.</summary>
internal sealed class SessionMarks(DatabaseConnections databases, Live<LimitsConfig> limits) : IMarkSource
{
    public ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken) =>
        new(
            limits.Current.SessionsHigh is { } high
                ?
                [
                    new MarkMeasure(MarkNames.Sessions, null, databases.InUse, high, limits.Current.SessionsLow ?? high / 2, "sessions")
                    {
                        Effect = "callers get 503 and messages that can wait stay where they are",
                        HoldsIntake = true,
                    },
                ]
                : []
        );
}
