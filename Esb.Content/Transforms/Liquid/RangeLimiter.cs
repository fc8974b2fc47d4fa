using Fluid;
using Fluid.Ast;
using Fluid.Values;

namespace Esb.Content.Transforms.Liquid;

/// <summary>Puts a limit on ranges such as <c>(1..n)</c>, which the engine makes whole in memory.</summary>
internal sealed class RangeLimiter(int limit) : AstRewriter
{
    protected override Expression VisitRangeExpression(RangeExpression rangeExpression) => new LimitedRange(rangeExpression, limit);

    private sealed class LimitedRange(RangeExpression range, int limit) : Expression
    {
        public override async ValueTask<FluidValue> EvaluateAsync(TemplateContext context)
        {
            if (context.AmbientValues.TryGetValue(LiquidRun.Ambient, out var run))
                ((LiquidRun)run).CheckTime();
            var (from, to) = (await range.From.EvaluateAsync(context), await range.To.EvaluateAsync(context));
            if (to.ToNumberValue() - from.ToNumberValue() >= limit)
                throw new LiquidLimitException($"a range has more than {limit} items");
            return await range.EvaluateAsync(context);
        }

        protected override Expression Accept(AstVisitor visitor) => this;
    }
}
