// Keeps the page as the delivery is, until it is over.
(() => {
	const at = id => document.getElementById(id);
	const say = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };
	const show = state => {
		say("heading", state.heading);
		say("detail", state.detail);
		document.title = state.title;
		say("advice", state.next);
		at("next").toggleAttribute("hidden", !state.next);
		document.querySelector(".progress").classList.toggle("stopped", state.stopped);
		document.querySelectorAll(".progress li").forEach((item, i) => {
			item.className = i <= state.progress ? "done" : "";
			if (i === state.progress) item.setAttribute("aria-current", "step"); else item.removeAttribute("aria-current");
		});
		at("who").toggleAttribute("hidden", !state.courier);
		at("courier").toggleAttribute("hidden", !state.courier);
		if (!state.courier) return;
		say("name", state.courier.name);
		say("vehicle", state.courier.vehicle);
		if (at("picture").getAttribute("src") !== state.courier.picture) at("picture").src = state.courier.picture;
		at("courier").style.transform = `translate(${state.x}px, ${state.y}px)`;
	};
	const every = Number(document.querySelector("main").dataset.every);
	const look = async () => {
		if (!document.hidden) {
			try {
				const answer = await fetch(location.pathname + "/state");
				if (answer.status === 404) return;
				if (answer.ok) {
					const state = await answer.json();
					show(state);
					if (state.over) return;
				}
			} catch { /* the next look may be luckier */ }
		}
		setTimeout(look, every);
	};
	setTimeout(look, every);
})();
