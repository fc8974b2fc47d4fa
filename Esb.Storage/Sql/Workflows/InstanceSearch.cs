using System.Buffers.Binary;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Storage.Sql.Workflows;

/// <summary>Lists instances, newest first. The cost does not depend on the number of ended instances, which may be millions.</summary>
/// <remarks>
/// A query by state reads the newest instances of each workflow and state from an index of such instances, and merges them. One index for
/// all would be read to its end for a state that is rare.
/// </remarks>
internal sealed class InstanceSearch(SqlSession session, IBodyCipher cipher, WorkflowQuery query)
{
    // The clocks of hosts and of senders differ from the database's by less.
    private static readonly TimeSpan ClockDifference = TimeSpan.FromMinutes(10);

    // With more of them, a statement for each costs more than it saves.
    private const int MostParts = 200;

    private readonly List<string> _conditions = [];
    private readonly List<(string Name, object? Value)> _parameters = [("limit", query.Limit)];

    // What has ended stands at no step.
    private readonly List<WorkflowState> _states =
    [
        .. query.States.Where(state => query.Step is null || !WorkflowInstance.HasEnded(state)),
    ];

    public async Task<IReadOnlyList<WorkflowInstance>> RunAsync()
    {
        if (query.States.Count > 0 && _states.Count == 0)
            return [];
        And(
            query.Keys.Count == 0 ? null : query.Keys.ToArray(),
            $"id in (select instance_id from workflow_key where {session.Dialect.IsOneOf("hash", "keys")})",
            "keys"
        );
        And(query.Code, "code = @code", "code");
        And(query.Step is null ? null : $"%,{query.Step},%", "(',' || replace(step, ', ', ',') || ',') like @step", "step");
        And(query.Before, "started_at < @before", "before");
        And(LastId(), "id < @after", "after");
        var parts = await PartsAsync();
        return await session.QueryAsync(
            parts.Count switch
            {
                0 => Select("true"),
                1 => Select(parts[0]),
                _ => $"select * from ({Union(parts)}) as parts order by id desc limit @limit",
            },
            row => WorkflowRows.Read(row, cipher),
            [.. _parameters]
        );
    }

    // The conditions of the queries that make up the list; empty without conditions.
    private async Task<IReadOnlyList<string>> PartsAsync()
    {
        var states = StateParts();
        if (query.Workflow is not null)
            _parameters.Add(("workflow0", query.Workflow));
        if (states.Count == 0)
            return query.Workflow is null ? [] : ["workflow = @workflow0"];
        if (query.Workflow is not null)
            return [.. states.Select(state => $"workflow = @workflow0 and {state}")];
        if (query.Keys.Count > 0 || query.Code is not null)
            return states; // few of them anyway
        var workflows = await WorkflowRows.WorkflowsAsync(session);
        if (workflows.Count * states.Count is 0 or > MostParts)
            return states;
        _parameters.AddRange(workflows.Select((workflow, number) => ($"workflow{number}", (object?)workflow)));
        return [.. workflows.SelectMany((_, number) => states.Select(state => $"workflow = @workflow{number} and {state}"))];
    }

    private List<string> StateParts()
    {
        if (_states.Count == 0)
            return query.Step is null ? [] : ["ended_at is null"];
        var living = _states.Where(state => !WorkflowInstance.HasEnded(state)).Select(state => state.ToString()).ToArray();
        var parts = new List<string>();
        if (living.Length > 0)
        {
            parts.Add($"ended_at is null and {session.Dialect.IsOneOf("state", "living")}");
            _parameters.Add(("living", living));
        }

        foreach (var state in _states.Where(WorkflowInstance.HasEnded))
            parts.Add($"ended_at is not null and state = '{state}'"); // a name of the program
        return parts;
    }

    // Ids sort by the time of the starting message, which precedes the start.
    private Guid? LastId()
    {
        if (query.Before is not { } before)
            return query.After;
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteInt64BigEndian(bytes, (before + ClockDifference).ToUnixTimeMilliseconds() << 16);
        var last = new Guid(bytes, bigEndian: true);
        return query.After is { } after && string.CompareOrdinal($"{after}", $"{last}") < 0 ? after : last;
    }

    private string Union(IReadOnlyList<string> parts) =>
        string.Join(" union all ", parts.Select((part, number) => $"select * from ({Select(part)}) as p{number}"));

    private string Select(string part) =>
        $"select * from workflow_instance where {string.Join(" and ", _conditions.Prepend(part))} order by id desc limit @limit";

    private void And(object? value, string condition, string name)
    {
        if (value is null)
            return;
        _conditions.Add(condition);
        _parameters.Add((name, value));
    }
}
