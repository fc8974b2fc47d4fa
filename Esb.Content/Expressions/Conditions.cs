using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A value and what must be true of it.</summary>
internal sealed class ComparisonCondition(IMessageValue value, Func<object?, bool> holds) : IMessageCondition
{
    public bool ReadsBody => value.ReadsBody;

    public bool Holds(MessageContext context) => holds(value.Evaluate(context));
}

/// <summary>Conjunction: true of none.</summary>
internal sealed class AllCondition(IReadOnlyList<IMessageCondition> conditions) : IMessageCondition
{
    public bool ReadsBody { get; } = conditions.Any(condition => condition.ReadsBody);

    public bool Holds(MessageContext context) => conditions.All(condition => condition.Holds(context));
}

/// <summary>Disjunction: false of none.</summary>
internal sealed class AnyCondition(IReadOnlyList<IMessageCondition> conditions) : IMessageCondition
{
    public bool ReadsBody { get; } = conditions.Any(condition => condition.ReadsBody);

    public bool Holds(MessageContext context) => conditions.Any(condition => condition.Holds(context));
}

/// <summary>Negation.</summary>
internal sealed class NotCondition(IMessageCondition condition) : IMessageCondition
{
    public bool ReadsBody => condition.ReadsBody;

    public bool Holds(MessageContext context) => !condition.Holds(context);
}
